package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.dropped;
import static io.throttlekit.limit.Samples.ms;
import static io.throttlekit.limit.Samples.second;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.Gradient2Limit.Settings;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Rows B56 to B62 are those of the same algorithm in ThrottleKit for TypeScript. */
class Gradient2LimitTest {

  @Test
  void b56BeginsAtItsInitialLimit() {
    assertThat(each(4, 512, 4).limit()).isEqualTo(4);
    assertThat(each(7, 512, 7).limit()).isEqualTo(7);
  }

  @Test
  void b57StepsByLatencyOrDrops() {
    assertThat(after(dropped(1, 10, 100))).isEqualTo(92);
    assertThat(after(completed(1, 30, 100))).isCloseTo(95 + 1 / 3.0, within(1e-9));
    assertThat(after(completed(1, 40, 100))).isEqualTo(92);
    assertThat(after(completed(1, 20, 100))).isEqualTo(102);
  }

  @Test
  void b58GrowsWhileItIsInUse() {
    Gradient2Limit algorithm = each(4, 512, 4);
    List<Double> estimates = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      algorithm.learn(completed(i, 10, 4_000));
      estimates.add(Math.rint(algorithm.estimate * 1e6) / 1e6);
    }
    assertThat(estimates)
        .containsExactly(4.4, 4.819524, 5.258592, 5.717224, 6.195439, 6.693251, 7.210678, 7.747732);
  }

  @Test
  void b58GrowsByRoundsOfItsLimit() {
    assertThat(rounds(each(4, 512, 4), 10, 9)).containsExactly(5, 6, 8, 10, 14, 19, 29, 48, 86);
  }

  @Test
  void b59ShrinksByRoundsDownToFour() {
    Gradient2Limit algorithm = each(4, 30, 30);
    algorithm.learn(completed(0, 10, 1));
    assertThat(rounds(algorithm, 500, 6)).containsExactly(12, 9, 8, 7, 6, 6);
    assertThat(rounds(algorithm, 500, 5)).containsExactly(5, 5, 5, 5, 4);
  }

  @Test
  void b60HoldsWhileNotInUse() {
    Gradient2Limit algorithm = each(4, 512, 20);
    for (int i = 0; i < 100; i++) {
      algorithm.learn(completed(i, 10, 1));
    }
    assertThat(algorithm.estimate).isEqualTo(20);
  }

  @Test
  void b62RemeasuresTheNoLoadLatencyAtALowerLimit() {
    Gradient2Limit algorithm = each(2, 512, 8, new Recalibration(ms(1_000), 2, 3));
    for (int i = 0; i < 5; i++) {
      algorithm.learn(completed(0, 100, 1));
    }
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(100));
    assertThat(algorithm.limit()).isEqualTo(8);
    algorithm.learn(completed(999, 100, 1));
    assertThat(algorithm.limit()).isEqualTo(8);
    algorithm.learn(completed(1_000, 100, 1));
    assertThat(algorithm.limit()).isEqualTo(2);
    assertThat(algorithm.isProbing()).isTrue();
    assertThat(algorithm.estimate).isEqualTo(8);
    for (int i = 0; i < 3; i++) {
      assertThat(algorithm.limit()).isEqualTo(2);
      algorithm.learn(completed(1_010 + i, 10, 2));
    }
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(10));
    assertThat(algorithm.limit()).isEqualTo(8);
    algorithm.learn(completed(2_011, 10, 1));
    assertThat(algorithm.limit()).isEqualTo(8);
    algorithm.learn(completed(2_012, 10, 1));
    assertThat(algorithm.limit()).isEqualTo(2);
  }

  @Test
  void b62AMeasurementIgnoresRequestsThatBeganAboveItsLimit() {
    Gradient2Limit algorithm = each(2, 512, 8, new Recalibration(ms(1_000), 2, 2));
    algorithm.learn(completed(0, 100, 1));
    algorithm.learn(completed(1_000, 100, 1));
    algorithm.learn(completed(1_001, 5, 3));
    algorithm.learn(completed(1_002, 0, 1));
    algorithm.learn(completed(1_003, 50, 2));
    assertThat(algorithm.limit()).isEqualTo(2);
    algorithm.learn(completed(1_004, 50, 1));
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(50));
  }

  @Test
  void aMeasurementOfOnlyDropsEndsWithoutResult() {
    Gradient2Limit algorithm = each(2, 512, 8, new Recalibration(ms(1_000), 2, 2));
    algorithm.learn(completed(0, 100, 1));
    algorithm.learn(completed(1_000, 100, 1));
    algorithm.learn(dropped(1_001, 5, 1));
    assertThat(algorithm.limit()).isEqualTo(2);
    algorithm.learn(dropped(1_002, 5, 1));
    assertThat(algorithm.limit()).isEqualTo(8);
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(100));
  }

  @Test
  void aMeasurementThatTimesOutEndsWithoutResult() {
    Gradient2Limit algorithm = each(2, 512, 8, new Recalibration(ms(1_000), 2, 2));
    algorithm.learn(completed(0, 100, 1));
    algorithm.learn(completed(1_000, 100, 1));
    algorithm.learn(completed(1_999, 5, 8));
    assertThat(algorithm.limit()).isEqualTo(2);
    algorithm.learn(completed(2_000, 5, 8));
    assertThat(algorithm.limit()).isEqualTo(8);
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(100));
  }

  @Test
  void aMeasurementTimesOutWithoutSamples() {
    Gradient2Limit algorithm = each(2, 512, 8, new Recalibration(ms(1_000), 2, 2));
    algorithm.onTick(ms(5_000)); // there is no measurement yet
    algorithm.learn(completed(0, 100, 1));
    algorithm.learn(completed(1_000, 100, 1));
    algorithm.onTick(ms(1_999));
    assertThat(algorithm.limit()).isEqualTo(2);
    algorithm.onTick(ms(2_000));
    assertThat(algorithm.limit()).isEqualTo(8);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(100));
    algorithm.learn(completed(2_999, 100, 1));
    assertThat(algorithm.limit()).as("an interval passes before the next").isEqualTo(8);
    algorithm.learn(completed(3_000, 100, 1));
    assertThat(algorithm.limit()).isEqualTo(2);
  }

  @Test
  void aDropNeverBecomesTheBaseline() {
    Gradient2Limit algorithm = each(4, 512, 100);
    algorithm.learn(completed(0, 10, 1));
    algorithm.learn(dropped(1, 0.1, 1));
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(10));
  }

  @Test
  void aLatencyOfZeroIsIgnored() {
    Gradient2Limit algorithm = each(4, 512, 100);
    algorithm.learn(completed(0, 10, 1));
    for (int i = 0; i < 200; i++) {
      algorithm.learn(completed(1, 0, 100));
    }
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(10));
    assertThat(algorithm.estimate).isEqualTo(100);
  }

  @Test
  void theBaselineDropsSamplesOlderThanItsWindow() {
    Gradient2Limit algorithm = each(4, 512, 100);
    algorithm.learn(completed(0, 10, 1));
    for (int i = 0; i < 99; i++) {
      algorithm.learn(completed(1, 20, 1));
    }
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(10));
    algorithm.learn(completed(1, 20, 1));
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(20));
  }

  @Test
  void updatesOncePerWindowFromItsMedian() {
    Gradient2Limit algorithm = new Gradient2Limit(new LimitRange(4, 512, 100), Settings.defaults());
    second(algorithm, 0, 10, 1, false);
    algorithm.learn(completed(1_015, 1, 1));
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(10));
    second(algorithm, 1_015, 40, 100, false);
    algorithm.learn(completed(2_030, 10, 1));
    assertThat(algorithm.estimate).isEqualTo(92);
    second(algorithm, 2_030, 10, 100, true);
    algorithm.learn(dropped(3_045, 10, 1));
    assertThat(algorithm.estimate).isCloseTo(.9 * 92 + .2 * Math.sqrt(92), within(1e-9));
    assertThat(algorithm.noLoadNanos).isEqualTo(ms(10));
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    LimitRange range = new LimitRange(4, 8, 4);
    assertThatThrownBy(() -> new Settings(.9, .2, 1, null, null)).hasMessageContaining("0.9");
    assertThatThrownBy(() -> new Settings(Double.NaN, .2, 1, null, null))
        .hasMessageContaining("NaN");
    assertThatThrownBy(() -> new Settings(2, 0, 1, null, null)).hasMessageContaining("0.0");
    assertThatThrownBy(() -> new Settings(2, 1.1, 1, null, null)).hasMessageContaining("1.1");
    assertThatThrownBy(() -> new Settings(2, .2, 0, null, null)).hasMessageContaining("and 0");
    assertThatThrownBy(() -> new Recalibration(0, 1, 1)).hasMessageContaining("0, 1 and 1");
    assertThatThrownBy(() -> new Recalibration(1, 0, 1)).hasMessageContaining("1, 0 and 1");
    assertThatThrownBy(() -> new Recalibration(1, 1, 0)).hasMessageContaining("1, 1 and 0");
    for (int outside : new int[] {3, 9}) {
      Settings probing = new Settings(2, .2, 1, null, new Recalibration(1, outside, 1));
      assertThatThrownBy(() -> new Gradient2Limit(range, probing))
          .hasMessageContaining("from 4 to 8")
          .hasMessageContaining("was " + outside);
    }
  }

  /** Returns the estimate after one request, from 100, with a latency without load of 10 ms. */
  private static double after(Sample sample) {
    Gradient2Limit algorithm = each(4, 512, 100);
    algorithm.learn(completed(0, 10, 1));
    algorithm.learn(sample);
    return algorithm.estimate;
  }

  /**
   * Returns the limits after rounds that each begin as many requests as are allowed, then end them
   * all.
   */
  private static List<Integer> rounds(Gradient2Limit algorithm, double rttMillis, int rounds) {
    List<Integer> limits = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      int allowed = algorithm.limit();
      for (int inFlight = 1; inFlight <= allowed; inFlight++) {
        algorithm.learn(completed(round, rttMillis, inFlight));
      }
      limits.add(algorithm.limit());
    }
    return limits;
  }

  private static Gradient2Limit each(int min, int max, int initial) {
    return each(min, max, initial, null);
  }

  private static Gradient2Limit each(
      int min, int max, int initial, @Nullable Recalibration recalibration) {
    return new Gradient2Limit(
        new LimitRange(min, max, initial), new Settings(2, .2, 100, null, recalibration));
  }
}
