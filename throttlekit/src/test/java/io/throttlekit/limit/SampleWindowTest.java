package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.dropped;
import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SampleWindowTest {
  private final SampleWindow window =
      new SampleWindow(new WindowSettings(ms(1_000), ms(30_000), 3));

  @Test
  void beginsWithTheFirstTimeThatIsGiven() {
    window.refused(ms(0), 0);
    add(1_000, 3);
    assertThat(window.ripe(ms(1_000))).isFalse();
    assertThat(window.ripe(ms(1_000) + 1)).isTrue();
  }

  @Test
  void aTimeFarAheadDoesNotDelayIt() {
    add(1e9, 1);
    add(0, 3);
    assertThat(window.ripe(ms(1_001))).isTrue();
  }

  @Test
  void aLatencyOfZeroDoesNotCount() {
    window.refused(ms(0), 0);
    for (int i = 0; i < 10; i++) {
      window.add(completed(1_001, 0, 90));
    }
    add(1_001, 2);
    assertThat(window.ripe(ms(1_001))).isFalse();
    assertThat(window.maxInFlight()).isEqualTo(5);
    add(1_001, 1);
    assertThat(window.ripe(ms(1_001))).isTrue();
    assertThat(window.quantile(0)).isEqualTo(10e6);
  }

  @Test
  void dropsAloneCompleteAWindow() {
    window.refused(ms(0), 0);
    window.add(dropped(1_001, 9, 5));
    add(1_001, 1);
    assertThat(window.ripe(ms(1_001))).isFalse();
    window.add(dropped(1_001, 9, 5));
    assertThat(window.ripe(ms(1_001))).isTrue();
    assertThat(window.overloaded()).isTrue();
  }

  @Test
  void anOverflowingNumberOfRefusalsCountsAsRefusals() {
    window.refused(ms(0), Long.MAX_VALUE);
    window.refused(ms(0), Long.MAX_VALUE);
    assertThat(window.saturated()).isTrue();
  }

  @Test
  void summarizesAWindowAsOneSample() {
    window.refused(ms(0), 0);
    assertThat(window.endedBy(completed(500, 30, 2))).isNull();
    assertThat(window.endedBy(new Sample(0, ms(10), ms(600), 7, true, false))).isNull();
    assertThat(window.endedBy(completed(1_001, 20, 4)))
        .isEqualTo(new Sample(ms(981), ms(20), ms(1_001), 7, true, false));
    assertThat(window.measured()).isFalse();
    assertThat(window.ripe(ms(9_000))).isFalse();
  }

  private void add(double arrivedMillis, int requests) {
    for (int i = 0; i < requests; i++) {
      window.add(completed(arrivedMillis, 10, 5));
    }
  }
}
