package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.dropped;
import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.FailsafeLimit.Settings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Rows 1 to 24 are the results of failsafe-go 0.9.7 for the same numbers. Unless a row states
 * otherwise, 1 s is the baseline of ten windows, and a request ends every 2 s and closes a window.
 */
class FailsafeLimitTest {
  private static final LimitRange RANGE = new LimitRange(1, 200, 20);
  private static final WindowSettings EACH = new WindowSettings(ms(1_000), ms(1_000), 1);

  private double now;

  /** The queue in the last step, by the formula of the algorithm. */
  private double queue;

  @Test
  void row1BeginsAtItsInitialLimit() {
    assertThat(new FailsafeLimit(RANGE, Settings.defaults()).limit()).isEqualTo(20);
    assertThat(new FailsafeLimit(new LimitRange(1, 10, 5), Settings.defaults()).limit())
        .isEqualTo(5);
  }

  @Test
  void row2GrowsWithoutAQueue() {
    FailsafeLimit algorithm = warm(5, 0);
    assertThat(after(algorithm, 1_000, 5)).isEqualTo(21);
    assertThat(queue).isZero();
    assertThat(after(algorithm, 500, 5)).isEqualTo(22);
    assertThat(queue).isEqualTo(-5);
  }

  @Test
  void row3ShrinksWhileTheQueueIsLong() {
    FailsafeLimit algorithm = warm(5, 0);
    assertThat(after(algorithm, 2_000, 10)).isEqualTo(19);
    assertThat(queue).isEqualTo(9);
    assertThat(after(algorithm, 2_000, 10)).isEqualTo(18);
    assertThat(queue).isEqualTo(7);
  }

  @Test
  void row4HoldsWhileTheQueueIsSmall() {
    FailsafeLimit algorithm = warm(5, 0);
    assertThat(after(algorithm, 1_300, 10)).isEqualTo(20);
    assertThat(queue).isEqualTo(4);
    assertThat(after(algorithm, 1_300, 10)).isEqualTo(20);
    assertThat(queue).isEqualTo(4);
  }

  @Test
  void row5SmoothsByAMedianOfFiveAndAnAverage() {
    FailsafeLimit algorithm = warm(5, 0);
    for (double rtt : new double[] {100, 300, 200, 200, 250}) {
      after(algorithm, rtt, 5);
    }
    assertThat(algorithm.smoothed.value).isCloseTo(200e6, within(1.0));
  }

  @Test
  void row6KeepsTheMaximumInFlightForItsStabilization() {
    FailsafeLimit algorithm = warm(1.5, ms(300_000));
    assertThat(after(algorithm, 1_000, 20)).isEqualTo(21);
    assertThat(after(algorithm, 1_000, 5)).isEqualTo(22);
  }

  @Test
  void row7KeepsNoMaximumWithoutStabilization() {
    FailsafeLimit algorithm = warm(1.5, 0);
    assertThat(after(algorithm, 1_000, 20)).isEqualTo(21);
    assertThat(after(algorithm, 1_000, 5)).isEqualTo(20);
  }

  @Test
  void row8DropsTheMaximumInFlightAfterItsStabilization() {
    FailsafeLimit algorithm = warm(1.5, ms(10_000));
    assertThat(after(algorithm, 1_000, 20)).isEqualTo(21);
    now += 10_000;
    assertThat(after(algorithm, 1_000, 5)).isEqualTo(20);
  }

  @Test
  void row9GrowsByTwoFromOneHundredOn() {
    FailsafeLimit algorithm = warm(5, 0);
    for (int limit = 21; limit <= 100; limit++) {
      assertThat(after(algorithm, 1_000, 1_000)).isEqualTo(limit);
    }
    assertThat(afterEach(algorithm, 1_000, 1_000, 4)).containsExactly(102, 104, 106, 108);
  }

  @Test
  void row10GrowsToItsHeadroom() {
    assertThat(afterEach(warm(5, 0), 1_000, 5, 6)).containsExactly(21, 22, 23, 24, 25, 25);
  }

  @Test
  void row11ShrinksToItsHeadroom() {
    assertThat(afterEach(warm(5, 0), 1_000, 3, 6)).containsExactly(19, 18, 17, 16, 15, 15);
  }

  @Test
  void row12HoldsAFractionOfARequest() {
    FailsafeLimit algorithm = warm(1.5, 0);
    List<Double> limits = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      after(algorithm, 1_000, 13);
      limits.add(algorithm.estimate);
    }
    assertThat(limits).containsExactly(19.0, 19.5, 19.5);
    assertThat(algorithm.limit()).isEqualTo(19);
  }

  @Test
  void row13AbsorbsALastingQueueIntoTheBaseline() {
    for (boolean full : new boolean[] {false, true}) {
      FailsafeLimit algorithm = warm(5, 0);
      List<Integer> limits = new ArrayList<>();
      List<Integer> queues = new ArrayList<>();
      for (int i = 0; i < 11; i++) {
        learn(algorithm, 3_000, 20, full);
        limits.add(algorithm.limit());
        queues.add((int) queue);
      }
      assertThat(limits).containsExactly(19, 18, 17, 17, 17, 17, 17, 17, 18, 19, 20);
      assertThat(queues).startsWith(11, 9, 7, 6, 5, 4, 3, 3, 2);
    }
  }

  @Test
  void row14Headroom() {
    Headroom thrice = inFlight -> 3.0 * inFlight;
    assertThat(thrice.limitFor(100)).isEqualTo(300);
    assertThat(Headroom.times(5).limitFor(100)).isEqualTo(500);
    Headroom decaying = Headroom.times(5, 1, 1.2);
    assertThat(decaying).isEqualTo(Headroom.times(5, 1, 1.2)); // unchanged by a reload
    assertThat(decaying.limitFor(10)).isEqualTo(40);
    assertThat(decaying.limitFor(100)).isEqualTo(300);
    assertThat(decaying.limitFor(200)).isCloseTo(540, within(1.0));
    assertThat(decaying.limitFor(1_000)).isEqualTo(2_000);
    assertThat(Headroom.times(5, 2, 1.2).limitFor(10_000)).isEqualTo(12_000);
  }

  @Test
  void row18NumbersOutOfRangeAreRefused() {
    assertThatThrownBy(() -> new LimitRange(2, 2, 1)).hasMessageContaining("initial 1");
    assertThatThrownBy(() -> new LimitRange(1, 2, 0)).hasMessageContaining("initial 0");
    assertThatThrownBy(() -> new LimitRange(1, 2, 3)).hasMessageContaining("initial 3");
    assertThatThrownBy(() -> new WindowSettings(ms(1_001), ms(1_000), 1))
        .hasMessageContaining("maxNanos 1000000000");
    Headroom five = Headroom.times(5);
    for (double quantile : new double[] {-1, 0, 1, Double.NaN}) {
      assertThatThrownBy(() -> new Settings(EACH, quantile, 10, 50, five, 0))
          .hasMessageContaining("were " + quantile);
    }
    assertThatThrownBy(() -> Headroom.times(.5)).hasMessageContaining("0.5");
    assertThatThrownBy(() -> Headroom.times(5, -1, 1)).hasMessageContaining("-1.0");
    assertThatThrownBy(() -> Headroom.times(5, 1, .9)).hasMessageContaining("0.9");
    assertThatThrownBy(() -> new Settings(EACH, .9, 10, 50, five, ms(-1_000)))
        .hasMessageContaining("and -1000000000");
    assertThatThrownBy(() -> new Settings(EACH, .9, 0, 50, five, 0)).hasMessageContaining(" 0, 50");
    assertThatThrownBy(() -> new Settings(EACH, .9, 10, 0, five, 0)).hasMessageContaining("10, 0");
  }

  @Test
  void row22AWindowNeedsItsSpanAndItsRequests() {
    FailsafeLimit algorithm = fifty();
    for (int i = 0; i < 49; i++) {
      algorithm.learn(completed(10_000, 1_000, 10));
    }
    assertThat(algorithm.limit()).isEqualTo(20);
    algorithm.learn(completed(10_000, 1_000, 10));
    assertThat(algorithm.limit()).isEqualTo(21);

    algorithm = fifty();
    for (int i = 0; i < 50; i++) {
      algorithm.learn(completed(1_000, 1_000, 10));
    }
    assertThat(algorithm.limit()).isEqualTo(20);
    algorithm.learn(dropped(1_000.001, 9_000, 10));
    assertThat(algorithm.limit()).isEqualTo(21);
    assertThat(algorithm.smoothed.value).isEqualTo(1_000e6);
  }

  @Test
  void row23AWindowLastsTwiceTheShortestLatencyOfTheOneBefore() {
    assertThat(nextMoveAfter(800)).isEqualTo(1_600);
    assertThat(nextMoveAfter(20_000)).isEqualTo(30_000);
    assertThat(nextMoveAfter(10)).isEqualTo(1_000);
  }

  @Test
  void row24Thresholds() {
    int[][] rows = {{99, 3, 6, 1}, {100, 6, 12, 2}, {999, 6, 12, 2}, {1_000, 9, 18, 3}};
    for (int[] row : rows) {
      int k = Log10.of(row[0]);
      assertThat(new int[] {3 * k, 6 * k, k}).containsExactly(row[1], row[2], row[3]);
    }
    assertThat(stepFrom(99, 1_000)).isEqualTo(1);
    assertThat(stepFrom(1_000, 1_000)).isEqualTo(3);
    assertThat(stepFrom(100, 1_050)).isEqualTo(2); // a queue of 4, below 6
    assertThat(stepFrom(100, 1_090)).isZero(); // 7
    assertThat(stepFrom(100, 1_200)).isEqualTo(-2); // 14
  }

  @Test
  void shrinksWhenSaturatedAndThroughputFallsWithInFlight() {
    FailsafeLimit idle = warm(5, 0);
    FailsafeLimit busy = warm(5, 0);
    List<Integer> idleLimits = new ArrayList<>();
    List<Integer> busyLimits = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      int inFlight = 40 + i;
      double rtt = 1_000 * Math.pow(inFlight / 40.0, 1.3);
      now += 2_000;
      idle.learn(ended(rtt, inFlight, false));
      busy.learn(ended(rtt, inFlight, true));
      idleLimits.add(idle.limit());
      busyLimits.add(busy.limit());
    }
    assertThat(idleLimits).endsWith(27, 28, 29, 30, 30, 30);
    assertThat(busyLimits).endsWith(27, 28, 29, 28, 27, 26);
  }

  @Test
  void refusalsCountAsSaturation() {
    FailsafeLimit algorithm = warm(5, 0);
    FailsafeLimit refusing = warm(5, 0);
    for (int i = 0; i < 12; i++) {
      int inFlight = 40 + i;
      double rtt = 1_000 * Math.pow(inFlight / 40.0, 1.3);
      now += 2_000;
      algorithm.learn(ended(rtt, inFlight, true));
      refusing.refused(ms(now), 1);
      refusing.learn(ended(rtt, inFlight, false));
      assertThat(refusing.limit()).isEqualTo(algorithm.limit());
    }
  }

  @Test
  void manyDropsTakeATenthAndKeepTheBaseline() {
    FailsafeLimit algorithm = warm(5, 0);
    now += 2_000;
    algorithm.learn(dropped(now, 5_000, 20));
    assertThat(algorithm.limit()).isEqualTo(18);
    assertThat(algorithm.baseline.value).isEqualTo(1_000e6);
  }

  @Test
  void aHeadroomOfNanIsOne() {
    FailsafeLimit algorithm =
        new FailsafeLimit(RANGE, new Settings(EACH, .9, 10, 50, inFlight -> Double.NaN, 0));
    algorithm.refused(0, 0);
    assertThat(afterEach(algorithm, 1_000, 20, 30)).endsWith(1, 1).startsWith(19, 18);
  }

  /** Returns the algorithm of the rows, with a baseline of 1 s. */
  private static FailsafeLimit warm(double factor, long stabilizationNanos) {
    return warm(RANGE, new Settings(EACH, .9, 10, 50, Headroom.times(factor), stabilizationNanos));
  }

  private static FailsafeLimit warm(LimitRange range, Settings settings) {
    FailsafeLimit algorithm = new FailsafeLimit(range, settings);
    algorithm.refused(0, 0); // the first window starts with the first call
    for (int i = 0; i < 10; i++) {
      algorithm.baseline.add(1_000e6);
    }
    return algorithm;
  }

  private static FailsafeLimit fifty() {
    return warm(RANGE, Settings.defaults());
  }

  private static double nextMoveAfter(double rttMillis) {
    FailsafeLimit algorithm =
        warm(
            RANGE,
            new Settings(
                new WindowSettings(ms(1_000), ms(30_000), 1), .9, 10, 50, Headroom.times(5), 0));
    algorithm.learn(completed(1_001, rttMillis, 10));
    double recent = algorithm.smoothed.value;
    double span = 0;
    do { // a request that changes the limit changes the recent latency
      span += 100;
      algorithm.learn(completed(1_001 + span, 3 * rttMillis, 10));
      assertThat(algorithm.smoothed.value).isEqualTo(recent);
      algorithm.learn(completed(1_001 + span + .001, 3 * rttMillis, 10));
    } while (algorithm.smoothed.value == recent && span < 60_000);
    return span;
  }

  private static int stepFrom(int initial, double rttMillis) {
    FailsafeLimit algorithm =
        warm(
            new LimitRange(1, 2_000, initial),
            new Settings(EACH, .9, 10, 50, Headroom.times(5), 0));
    algorithm.learn(completed(2_000, rttMillis, 1_000));
    return algorithm.limit() - initial;
  }

  private int after(FailsafeLimit algorithm, double rttMillis, int inFlight) {
    return learn(algorithm, rttMillis, inFlight, false);
  }

  private List<Integer> afterEach(
      FailsafeLimit algorithm, double rttMillis, int inFlight, int requests) {
    List<Integer> limits = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      limits.add(after(algorithm, rttMillis, inFlight));
    }
    return limits;
  }

  private int learn(FailsafeLimit algorithm, double rttMillis, int inFlight, boolean full) {
    now += 2_000;
    double before = algorithm.estimate;
    algorithm.learn(ended(rttMillis, inFlight, full));
    queue = Math.ceil(before * (1 - algorithm.baseline.value / algorithm.smoothed.value));
    return algorithm.limit();
  }

  private Sample ended(double rttMillis, int inFlight, boolean full) {
    return new Sample(ms(now - rttMillis), ms(rttMillis), ms(now), inFlight, full, false);
  }
}
