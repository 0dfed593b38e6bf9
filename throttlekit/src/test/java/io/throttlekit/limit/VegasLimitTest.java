package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.dropped;
import static io.throttlekit.limit.Samples.second;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.limit.VegasLimit.Settings;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Rows 56 to 59 are the results of Netflix's concurrency-limits 0.5 for the same numbers. */
class VegasLimitTest {

  @Test
  void row56GrowsToTheMaximumWithoutAQueue() {
    VegasLimit algorithm = each(1, 20, 10);
    int[] expected = {10, 16, 20, 20};
    int[] inFlight = {10, 11, 16, 20};
    for (int i = 0; i < expected.length; i++) {
      algorithm.learn(completed(i, 10, inFlight[i]));
      assertThat(algorithm.limit()).as("sample %s", i).isEqualTo(expected[i]);
    }
  }

  @Test
  void row57MovesByTheQueueThatItInfers() {
    for (double rtt : new double[] {10, 10.1, 10.2}) {
      assertThat(after(completed(1, rtt, 100))).as("%s ms", rtt).isEqualTo(112);
    }
    for (double rtt : new double[] {10.21, 10.4, 10.5}) {
      assertThat(after(completed(1, rtt, 100))).as("%s ms", rtt).isEqualTo(102);
    }
    for (double rtt : new double[] {10.65, 11, 11.36}) {
      assertThat(after(completed(1, rtt, 100))).as("%s ms", rtt).isEqualTo(100);
    }
    for (double rtt : new double[] {11.37, 20, 1_000}) {
      assertThat(after(completed(1, rtt, 100))).as("%s ms", rtt).isEqualTo(98);
    }
  }

  @Test
  void row57ChecksTheUseUnlessARequestWasDropped() {
    assertThat(after(dropped(1, 10, 49))).isEqualTo(98);
    assertThat(after(completed(1, 10, 49))).isEqualTo(100);
    assertThat(after(completed(1, 10, 50))).isEqualTo(112);
  }

  @Test
  void row57NeverFallsBelowTheMinimum() {
    VegasLimit algorithm = each(1, 20, 3);
    for (int i = 0; i < 10; i++) {
      algorithm.learn(dropped(i, 10, 3));
    }
    assertThat(algorithm.limit()).isEqualTo(1);
  }

  @Test
  void row58StepsByTheOrderOfItsLimit() {
    VegasLimit large = each(1, 20_000, 10_000);
    large.learn(completed(0, 10, 5_000));
    large.learn(completed(1, 10, 6_000));
    assertThat(large.limit()).isEqualTo(10_024);
    VegasLimit small = each(1, 20, 10);
    small.learn(completed(0, 10, 10));
    small.learn(dropped(1, 10, 11));
    assertThat(small.limit()).isEqualTo(9);
    VegasLimit held = each(1, 20, 10);
    held.learn(completed(0, 10, 10));
    held.learn(completed(1, 14, 14));
    assertThat(held.limit()).isEqualTo(10);
  }

  @Test
  void row58SmoothsADecreaseOfTheCallersOwn() {
    assertThat(halvedTwice(.5)).containsExactly(75, 56);
    assertThat(halvedTwice(1)).containsExactly(50, 25);
  }

  @Test
  void row59StepsOfLog10() {
    for (int below100 : new int[] {0, 1, 9, 10, 99}) {
      assertThat(Log10.of(below100)).isEqualTo(1);
    }
    assertThat(Log10.of(100)).isEqualTo(2);
    assertThat(Log10.of(999)).isEqualTo(2);
    assertThat(Log10.of(1_000)).isEqualTo(3);
    assertThat(Log10.of(9_999)).isEqualTo(3);
    assertThat(Log10.of(10_000)).isEqualTo(4);
  }

  @Test
  void aProbeResetsTheBaselineToTheNextSample() {
    VegasLimit algorithm = each(1, 10, 10);
    algorithm.learn(completed(0, 10, 1));
    int samples = 0;
    while (algorithm.limit() == 10 && samples < 1_000) {
      algorithm.learn(completed(1, 1_000, 1)); // too little in use to change
      samples++;
      algorithm.learn(completed(1, 1_000, 10));
      samples++;
      if (algorithm.limit() < 10) { // a queue until the probe, then none
        break;
      }
    }
    assertThat(algorithm.limit()).isEqualTo(9);
    for (; samples < 300; samples++) { // at most 30 times the limit
      algorithm.learn(completed(1, 1_000, 1));
    }
    algorithm.learn(completed(1, 1_000, 9));
    assertThat(algorithm.limit()).isEqualTo(10);
  }

  @Test
  void aDropNeverBecomesTheBaseline() {
    VegasLimit algorithm = each(1, 200, 100);
    algorithm.learn(completed(0, 10, 100));
    algorithm.learn(dropped(1, 0.1, 100));
    algorithm.learn(completed(1, 10, 100));
    assertThat(algorithm.limit()).isEqualTo(98 + 6);
  }

  @Test
  void aLatencyOfZeroIsIgnored() {
    VegasLimit algorithm = each(1, 200, 100);
    algorithm.learn(completed(0, 10, 100));
    for (int i = 0; i < 2_000; i++) {
      algorithm.learn(completed(1, 0, 100));
    }
    assertThat(algorithm.limit()).isEqualTo(100);
    algorithm.learn(completed(1, 10, 100));
    assertThat(algorithm.limit()).isEqualTo(112);
  }

  @Test
  void aDecreaseToNanIsIgnored() {
    Settings broken = new Settings(1, 30, limit -> Double.NaN, null);
    VegasLimit algorithm =
        new VegasLimit(new LimitRange(1, 20, 10), broken, new SplittableRandom(1));
    algorithm.learn(dropped(0, 10, 10));
    assertThat(algorithm.limit()).isEqualTo(10);
  }

  @Test
  void updatesOncePerWindowFromItsMedian() {
    VegasLimit algorithm =
        new VegasLimit(new LimitRange(1, 200, 100), Settings.defaults(), new SplittableRandom(1));
    second(algorithm, 0, 10, 100, false);
    algorithm.learn(completed(1_015, 1, 100));
    assertThat(algorithm.limit()).isEqualTo(100);
    second(algorithm, 1_015, 10, 100, false);
    algorithm.learn(completed(2_030, 1_000, 100));
    assertThat(algorithm.limit()).isEqualTo(112);
    second(algorithm, 2_030, 10, 100, true);
    algorithm.learn(dropped(3_045, 1, 100));
    assertThat(algorithm.limit()).isEqualTo(110);
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    assertThatThrownBy(() -> new Settings(0, 30, x -> x, null)).hasMessageContaining("0.0");
    assertThatThrownBy(() -> new Settings(1.5, 30, x -> x, null)).hasMessageContaining("1.5");
    assertThatThrownBy(() -> new Settings(1, 0, x -> x, null)).hasMessageContaining("and 0");
  }

  /** Returns the limit after one request, from 100, with a latency without load of 10 ms. */
  private static int after(Sample sample) {
    VegasLimit algorithm = each(1, 1_000, 100);
    algorithm.learn(completed(0, 10, 100));
    algorithm.learn(sample);
    return algorithm.limit();
  }

  private static int[] halvedTwice(double smoothing) {
    VegasLimit algorithm =
        new VegasLimit(
            new LimitRange(1, 200, 100),
            new Settings(smoothing, 30, limit -> limit / 2, null),
            new SplittableRandom(1));
    algorithm.learn(completed(0, 10, 100));
    algorithm.learn(completed(1, 20, 100));
    int once = algorithm.limit();
    algorithm.learn(completed(2, 20, 100));
    return new int[] {once, algorithm.limit()};
  }

  private static VegasLimit each(int min, int max, int initial) {
    return new VegasLimit(
        new LimitRange(min, max, initial),
        new Settings(1, 30, limit -> limit - Log10.of(limit), null),
        new SplittableRandom(1));
  }
}
