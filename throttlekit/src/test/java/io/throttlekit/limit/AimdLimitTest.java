package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.limit.AimdLimit.Settings;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Compares with the results of Netflix's concurrency-limits 0.5 for the same numbers. */
class AimdLimitTest {
  @Test
  void growsByOneWhileHalfOfTheLimitIsInUse() {
    AimdLimit limit = from(20);
    limit.learn(completed(1_000_000, 9));
    assertThat(limit.limit()).isEqualTo(20);
    limit.learn(completed(1_000_000, 10));
    assertThat(limit.limit()).isEqualTo(21);
  }

  @Test
  void backsOffWithEachDropDownToTheMinimum() {
    AimdLimit limit = from(30);
    List<Integer> limits = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      limit.learn(new Sample(0, 1, 1, 1, false, true));
      limits.add(limit.limit());
    }
    assertThat(limits).containsExactly(27, 24, 21, 20, 20);
  }

  @Test
  void neverGrowsBeyondTheMaximum() {
    AimdLimit limit = new AimdLimit(new LimitRange(1, 3, 3), settings(0.9, 2, 1));
    limit.learn(completed(1, Integer.MAX_VALUE));
    assertThat(limit.limit()).isEqualTo(3);
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    LimitRange range = new LimitRange(1, 2, 1);
    assertThatThrownBy(() -> settings(0.4, 2, 1)).hasMessageContaining("0.4");
    assertThatThrownBy(() -> settings(Double.NaN, 2, 1)).hasMessageContaining("NaN");
    assertThatThrownBy(() -> settings(1, 2, 1)).hasMessageContaining("1.0");
    assertThatThrownBy(() -> settings(0.9, 0.99, 1)).hasMessageContaining("0.99");
    assertThatThrownBy(() -> settings(0.9, 2, 0)).hasMessageContaining("and 0");
    Recalibration outside = new Recalibration(1, 3, 1);
    assertThatThrownBy(() -> new AimdLimit(range, Settings.defaults().with(outside)))
        .hasMessageContaining("was 3");
    assertThatThrownBy(() -> new LimitRange(0, 2, 1)).hasMessageContaining("min is 0");
    assertThatThrownBy(() -> new LimitRange(3, 2, 3)).hasMessageContaining("max 2");
    assertThatThrownBy(() -> new LimitRange(2, 9, 1)).hasMessageContaining("initial 1");
    assertThatThrownBy(() -> new LimitRange(2, 9, 10)).hasMessageContaining("initial 10");
    assertThatThrownBy(() -> new Sample(0, -1, 0, 1, false, false)).hasMessageContaining("-1");
    assertThatThrownBy(() -> new Sample(0, 1, 0, 0, false, false)).hasMessageContaining("0");
  }

  @Test
  void b60BacksOffBeyondItsToleranceOfTheNoLoadLatency() {
    AimdLimit limit = comparing(10, null);
    limit.learn(Samples.completed(0, 10, 1));
    limit.learn(Samples.completed(1, 20, 10));
    assertThat(limit.limit()).isEqualTo(11);
    limit = comparing(100, null);
    limit.learn(Samples.completed(0, 10, 1));
    limit.learn(Samples.completed(1, 20.000001, 1));
    assertThat(limit.limit()).isEqualTo(90);
    limit = comparing(100, null);
    limit.learn(Samples.dropped(0, 10, 1));
    assertThat(limit.limit()).isEqualTo(90);
  }

  @Test
  void droppedAndUnmeasuredRequestsAreNoNoLoadLatency() {
    AimdLimit limit = comparing(100, null);
    limit.learn(Samples.completed(0, 10, 1));
    limit.learn(Samples.completed(0, 0, 100));
    limit.learn(Samples.dropped(0, 1, 100));
    assertThat(limit.limit()).isEqualTo(90);
    limit.learn(Samples.completed(0, 20, 1));
    assertThat(limit.limit()).isEqualTo(90);
  }

  @Test
  void remeasuresTheNoLoadLatency() {
    AimdLimit limit = comparing(100, new Recalibration(Samples.ms(1_000), 2, 3));
    limit.learn(Samples.completed(0, 10, 1));
    limit.learn(Samples.completed(1_000, 10, 1));
    assertThat(limit.isProbing()).isTrue();
    assertThat(limit.limit()).isEqualTo(2);
    for (int i = 0; i < 3; i++) {
      limit.learn(Samples.completed(1_001, 50, 2));
    }
    assertThat(limit.limit()).isEqualTo(100);
    limit.learn(Samples.completed(1_002, 100, 100));
    assertThat(limit.limit()).isEqualTo(101);
  }

  @Test
  void aMeasurementTimesOutWithoutSamples() {
    AimdLimit limit = comparing(100, new Recalibration(Samples.ms(1_000), 2, 3));
    limit.learn(Samples.completed(0, 10, 1));
    limit.learn(Samples.completed(1_000, 10, 1));
    limit.onTick(Samples.ms(1_999));
    assertThat(limit.limit()).isEqualTo(2);
    limit.onTick(Samples.ms(2_000));
    assertThat(limit.limit()).isEqualTo(100);
    assertThat(limit.isProbing()).isFalse();
  }

  @Test
  void updatesOncePerWindowFromItsMedian() {
    AimdLimit limit =
        new AimdLimit(
            new LimitRange(20, 200, 30),
            new Settings(0.9, 10, 100, WindowSettings.defaults(), null));
    Samples.second(limit, 0, 10, 30, false);
    limit.learn(Samples.completed(1_015, 200, 1));
    assertThat(limit.limit()).isEqualTo(31);
    Samples.second(limit, 1_015, 101, 30, false);
    limit.learn(Samples.completed(2_030, 1, 1));
    assertThat(limit.limit()).isEqualTo(27);
    Samples.second(limit, 2_030, 10, 30, true);
    limit.learn(Samples.dropped(3_045, 1, 1));
    assertThat(limit.limit()).isEqualTo(24);
  }

  private static AimdLimit comparing(int initial, @Nullable Recalibration recalibration) {
    return new AimdLimit(
        new LimitRange(1, 200, initial), new Settings(0.9, 2, 100, null, recalibration));
  }

  private static AimdLimit from(int initial) {
    return new AimdLimit(new LimitRange(20, 200, initial), settings(0.9, 2, 100));
  }

  private static Settings settings(double backoff, double tolerance, int baseline) {
    return new Settings(backoff, tolerance, baseline, null, null);
  }

  private static Sample completed(long rttNanos, int inFlight) {
    return new Sample(0, rttNanos, rttNanos, inFlight, false, false);
  }
}
