package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LastSecondsTest {
  private static final long SECOND = 1_000_000_000L;

  private final LastSeconds last = new LastSeconds(2, 0);

  @Test
  void sumsTheSecondsOfItsWindow() {
    last.add(1, 0);
    last.add(2, SECOND - 1);
    last.add(4, SECOND);
    last.add(8, 2 * SECOND);
    assertThat(last.sum(3 * SECOND - 1)).isEqualTo(15);
    assertThat(last.sum(3 * SECOND)).isEqualTo(12);
    assertThat(last.sum(4 * SECOND)).isEqualTo(8);
    assertThat(last.sum(5 * SECOND)).isZero();
  }

  @Test
  void sumBeforeExcludesTheNewestSeconds() {
    last.add(1, 0);
    last.add(2, SECOND);
    last.add(4, 2 * SECOND);
    assertThat(last.sumBefore(0, 2 * SECOND)).isEqualTo(3);
    assertThat(last.sumBefore(1, 2 * SECOND)).isEqualTo(1);
  }

  @Test
  void computesTheRateOverTheObservedTime() {
    last.add(SECOND, 0);
    assertThat(last.perNano(1)).isEqualTo(1); // over at least a second
    assertThat(last.perNano(2 * SECOND)).isEqualTo(0.5);
    last.add(SECOND, 10 * SECOND);
    assertThat(last.perNano(10 * SECOND)).isEqualTo(0.5);
  }

  @Test
  void aStoppedOrBackwardClockLosesNothing() {
    last.add(1, 5 * SECOND);
    last.add(1, 4 * SECOND);
    assertThat(last.sum(0)).isEqualTo(2);
    assertThat(last.sum(Long.MAX_VALUE)).isZero();
  }
}
