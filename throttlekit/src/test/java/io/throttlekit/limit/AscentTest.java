package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AscentTest {
  private final Ascent ascent = new Ascent();

  @Test
  void constantLatencyUnderAQuarterMoreLimitIsTheBackends() {
    assertThat(ascent.learn(40, 20e6)).isZero();
    assertThat(ascent.learn(49, 20e6)).isZero();
    assertThat(ascent.learn(50, 20.5e6)).isEqualTo(20e6);
    assertThat(ascent.learn(62, 20e6)).isZero();
    assertThat(ascent.learn(62.5, 20e6)).isEqualTo(20e6);
  }

  @Test
  void latencyThatFollowsTheLimitIsAQueue() {
    ascent.learn(40, 40e6);
    assertThat(ascent.learn(50, 50e6)).isZero();
    assertThat(ascent.learn(100, 71e6)).isZero(); // .42 of the rise
    assertThat(ascent.learn(200, 98e6)).isEqualTo(71e6); // .38
  }

  /** As of a backend that was slow when the limit began to rise. */
  @Test
  void theReferenceFollowsLatencyBelowTheRise() {
    ascent.learn(40, 80e6);
    for (int window = 0; window < 10; window++) {
      assertThat(ascent.learn(45, 20e6)).isZero();
    }
    assertThat(ascent.learn(50, 23e6)).isZero();
  }

  @Test
  void aResetDropsTheReference() {
    ascent.learn(40, 20e6);
    ascent.forget();
    assertThat(ascent.learn(50, 20e6)).isZero();
  }

  @Test
  void aFallingLimitStartsAgain() {
    ascent.learn(40, 20e6);
    assertThat(ascent.learn(20, 20e6)).isZero();
    assertThat(ascent.learn(25, 18e6)).isEqualTo(18e6);
  }
}
