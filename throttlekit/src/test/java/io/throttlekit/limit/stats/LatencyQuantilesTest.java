package io.throttlekit.limit.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LatencyQuantilesTest {
  private final LatencyQuantiles latencies = new LatencyQuantiles();

  @Test
  void row21IsHazenForFewSamples() {
    addFromOneTo(50);
    assertThat(latencies.quantile(0.9)).isEqualTo(45.5);
    assertThat(latencies.quantile(0.5)).isEqualTo(25.5);
    latencies.reset();
    addFromOneTo(10);
    assertThat(latencies.quantile(0.9)).isEqualTo(9.5);
    latencies.reset();
    latencies.add(7);
    assertThat(latencies.quantile(0.9)).isEqualTo(7);
    assertThat(latencies.quantile(0)).isEqualTo(7);
    assertThat(latencies.quantile(1)).isEqualTo(7);
  }

  @Test
  void theMedianOfAnEvenNumberLiesBetweenTheMiddleTwo() {
    latencies.add(10);
    latencies.add(20);
    assertThat(latencies.quantile(0.5)).isEqualTo(15);
  }

  @Test
  void hasAnErrorBelowASixtyFourthForManySamples() {
    for (int seed = 0; seed < 60; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int count = 65 + random.nextInt(2_000);
      double octaves = random.nextDouble(60);
      long[] values = new long[count];
      latencies.reset();
      for (int i = 0; i < count; i++) {
        values[i] = (long) Math.pow(2, random.nextDouble(octaves));
        latencies.add(values[i]);
      }
      Arrays.sort(values);
      for (double q : new double[] {0, 0.01, 0.3, 0.5, 0.9, 0.99, 0.999, 1}) {
        double exact = hazen(values, q);
        assertThat(latencies.quantile(q))
            .as("seed %s, %s of %s", seed, q, count)
            .isCloseTo(exact, within(exact / 64));
      }
    }
  }

  @Test
  void isExactForMinimumMaximumAndEqualSamples() {
    for (int i = 0; i < 1_000; i++) {
      latencies.add(1_234_567);
    }
    assertThat(latencies.quantile(0.9)).isEqualTo(1_234_567);
    latencies.add(Long.MAX_VALUE);
    latencies.add(1);
    assertThat(latencies.quantile(1)).isEqualTo((double) Long.MAX_VALUE);
    assertThat(latencies.quantile(0)).isEqualTo(1);
    assertThat(latencies.min()).isEqualTo(1);
  }

  @Test
  void isEmptyAfterAReset() {
    addFromOneTo(1_000);
    latencies.reset();
    assertThat(latencies.count()).isZero();
    assertThatThrownBy(() -> latencies.quantile(0.5)).isInstanceOf(IllegalStateException.class);
    for (int i = 0; i < 70; i++) {
      latencies.add(5_000);
    }
    assertThat(latencies.quantile(0.01)).isEqualTo(5_000);
    assertThat(latencies.min()).isEqualTo(5_000);
  }

  private void addFromOneTo(int last) {
    for (int i = last; i >= 1; i--) {
      latencies.add(i);
    }
  }

  private static double hazen(long[] sorted, double q) {
    double position = Math.clamp(q * sorted.length - 0.5, 0.0, sorted.length - 1.0);
    int below = (int) position;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (double) (sorted[above] - sorted[below]) * (position - below);
  }
}
