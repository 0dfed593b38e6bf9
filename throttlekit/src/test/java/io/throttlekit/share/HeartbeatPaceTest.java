package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HeartbeatPaceTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long TENTH = SECOND / 10;
  private static final int LIMIT = 40;

  private long now = Long.MAX_VALUE - 30 * SECOND; // monotonic time may overflow
  private final HeartbeatPace pace = new HeartbeatPace(SECOND, LIMIT, now);

  @Test
  void inASteadyStateHeartbeatsAreNotFrequent() {
    calm();
    for (int i = 0; i < 600; i++) {
      assertThat(after(SECOND, digest(100, i % 10 == 0 ? 5 : 0, 20), LIMIT + i % 5, false))
          .isFalse();
    }
    for (int i = 0; i < 5; i++) { // an overload begins
      after(SECOND, digest(1_000, 1_000, 60), LIMIT, false);
    }
    for (int i = 0; i < 600; i++) {
      int millis = i % 2 == 0 ? 58 : 62;
      assertThat(after(SECOND, digest(1_000, 900 + i, millis), LIMIT + i % 5, false)).isFalse();
    }
  }

  @Test
  void aMeasurementMakesThemFrequentUntilTwoIntervalsAfterIt() {
    calm();
    for (int i = 0; i < 10; i++) {
      assertThat(after(TENTH, digest(100, 0, 20), LIMIT, true)).isTrue();
    }
    assertThat(lasts(digest(100, 0, 20), LIMIT)).isEqualTo(19);
  }

  @Test
  void aChangedLimitMakesThemFrequentForTwoIntervals() {
    calm();
    assertThat(after(SECOND, digest(100, 0, 20), LIMIT * 114 / 100, false)).isFalse();
    assertThat(after(SECOND, digest(100, 0, 20), LIMIT, false)).isFalse();
    assertThat(after(SECOND, digest(100, 0, 20), LIMIT * 116 / 100, false)).isTrue();
    assertThat(lasts(digest(100, 0, 20), LIMIT * 116 / 100)).isEqualTo(19);
    assertThat(after(SECOND, digest(100, 0, 20), LIMIT * 90 / 100, false)).as("falls").isTrue();
  }

  @Test
  void theBeginningOfAnOverloadMakesThemFrequent() {
    calm();
    assertThat(after(SECOND, digest(100, 24, 20), LIMIT, false)).as("few are refused").isFalse();
    now += 5 * SECOND;
    assertThat(after(SECOND, digest(100, 25, 20), LIMIT, false)).isTrue();
    assertThat(lasts(digest(100, 100, 20), LIMIT)).isEqualTo(19);
    assertThat(after(SECOND, digest(100, 100, 20), LIMIT, false)).as("it goes on").isFalse();
    assertThat(after(SECOND, digest(100, 0, 20), LIMIT, false)).isFalse();
    assertThat(after(SECOND, digest(100, 100, 20), LIMIT, false)).as("soon again").isFalse();
  }

  @Test
  void aShiftOfTheLatencyMakesThemFrequent() {
    calm();
    assertThat(after(SECOND, digest(49, 0, 40), LIMIT, false)).as("few requests").isFalse();
    assertThat(after(SECOND, digest(100, 0, 24), LIMIT, false)).as("a fifth more").isFalse();
    assertThat(after(SECOND, digest(100, 0, 30), LIMIT, false)).isTrue();
    assertThat(lasts(digest(100, 0, 30), LIMIT)).isEqualTo(19);
    assertThat(after(SECOND, digest(100, 0, 20), LIMIT, false)).as("falls").isTrue();
  }

  @Test
  void theyLastFifteenIntervalsAtMostAndThenAreNotFrequentForAsLong() {
    calm();
    int frequent = 0;
    for (int i = 0; i < 1_500; i++) { // of 150 s
      boolean is = after(TENTH, digest(100, 0, 20), LIMIT, true);
      frequent += is ? 1 : 0;
      assertThat(is).as("at %s", i).isEqualTo(i % 300 < 150);
    }
    assertThat(frequent).isEqualTo(750);
  }

  private void calm() {
    for (int i = 0; i < 10; i++) {
      assertThat(after(SECOND, digest(100, 0, 20), LIMIT, false)).isFalse();
    }
  }

  /** Returns for how many tenths of a second heartbeats stay frequent. */
  private int lasts(SampleDigest digest, int limit) {
    int tenths = 0;
    while (tenths < 1_000 && after(TENTH, digest, limit, false)) {
      tenths++;
    }
    return tenths;
  }

  private boolean after(long nanos, SampleDigest digest, int limit, boolean measuring) {
    now += nanos;
    return pace.isFrequent(List.of(digest), limit, measuring, now);
  }

  private static SampleDigest digest(long answered, long refused, int millis) {
    return new SampleDigest(
        answered,
        0,
        refused,
        30,
        false,
        RequestStatistics.NONE,
        List.of(TimeUnit.MILLISECONDS.toNanos(millis)));
  }
}
