package io.throttlekit.limit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.stats.Slope;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DigestedLimitTest {
  private static final long SEED = 8;
  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private final DigestedLimit limit = DigestedLimit.ofFleet(20);
  private final SplittableRandom random = new SplittableRandom(SEED);

  @ParameterizedTest
  @ValueSource(longs = {0, -5_000_000_000L, Long.MAX_VALUE - 300_000_000})
  void thePeakIsThatOfASecondHoweverOftenDigestsAreTaken(long origin) {
    learn(origin, 9);
    assertThat(taken().inFlight()).isEqualTo(9);
    learn(origin + TimeUnit.MILLISECONDS.toNanos(100), 3);
    assertThat(taken().inFlight()).as("0.1 s later").isEqualTo(9);
    learn(origin + TimeUnit.MILLISECONDS.toNanos(800), 4);
    assertThat(taken().inFlight()).as("0.8 s later").isEqualTo(9);
    learn(origin + TimeUnit.MILLISECONDS.toNanos(1_100), 2);
    assertThat(taken().inFlight()).as("1.1 s later").isEqualTo(4);
    learn(origin + TimeUnit.MILLISECONDS.toNanos(9_000), 1);
    assertThat(taken().inFlight()).as("9 s later").isEqualTo(1);
  }

  @Test
  void samplesAreTakenOnce() {
    learn(0, 1);
    learn(1, 1);
    assertThat(taken().answered()).isEqualTo(2);
    assertThat(limit.take()).isNull();
  }

  /** The first digest has none: only with a latency is it known which requests to compare. */
  @ParameterizedTest
  @ValueSource(longs = {0, -7_000_000_000L, Long.MAX_VALUE - 2_500_000_000L})
  void latencyThatRisesWithTheRequestsInFlightIsASlope(long origin) {
    requests(origin, inFlight -> 10 + 2 * inFlight);
    assertThat(taken().statistics().slope()).isEqualTo(Slope.UNKNOWN);
    requests(origin + 1_000 * MILLI, inFlight -> 10 + 2 * inFlight);
    Slope slope = taken().statistics().slope();
    assertThat(slope.value()).isCloseTo(2.0 * MILLI, within(0.1 * MILLI));
    assertThat(1 / Math.sqrt(slope.precision())).isLessThan(0.1 * MILLI);
    requests(origin + 2_000 * MILLI, _ -> 30);
    assertThat(taken().statistics().slope().value()).isCloseTo(0, within(0.5 * MILLI));
  }

  @Test
  void aSlopeIsTakenOnce() {
    requests(0, inFlight -> 10 + 2 * inFlight);
    taken();
    requests(1_000 * MILLI, inFlight -> 10 + 2 * inFlight);
    assertThat(taken().statistics().errorNanos()).isPositive();
    learn(2_000 * MILLI, 3);
    taken();
    learn(2_001 * MILLI, 3);
    assertThat(taken().statistics().errorNanos()).isZero();
  }

  @Test
  void droppedRequestsHaveNoLatencyAndNoSlope() {
    requests(0, _ -> 20);
    taken();
    for (int i = 0; i < 1_000; i++) {
      long now = (1_000 + i) * MILLI;
      limit.learn(new Sample(now - i * MILLI, i * MILLI, now, 1 + i % 20, false, true));
    }
    learn(5_000 * MILLI, 1);
    Slope slope = taken().statistics().slope();
    assertThat(slope.value()).isCloseTo(0, within(0.5 * MILLI));
    limit.learn(new Sample(5_000 * MILLI, 0, 5_000 * MILLI, 1, false, true));
    assertThat(taken().statistics().slope()).as("of a drop").isEqualTo(Slope.UNKNOWN);
  }

  @Test
  void requestsThatArriveTogetherAreADispersion() {
    assertThat(dispersion(1)).isEqualTo(1);
    assertThat(dispersion(20)).isBetween(15.0, 21.0);
  }

  /** Nothing is known of the backend, but of the arrivals. */
  @Test
  void droppedRequestsArrivedToo() {
    bursts(limit, 20, true);
    RequestStatistics statistics = taken().statistics();
    assertThat(statistics.slope()).isEqualTo(Slope.UNKNOWN);
    assertThat(statistics.arrivals()).isBetween(15.0, 21.0);
  }

  @Test
  void aRefusalAloneIsADigestWithoutStatistics() {
    limit.refused(0, 3);
    SampleDigest digest = taken();
    assertThat(digest.refused()).isEqualTo(3);
    assertThat(digest.statistics()).isEqualTo(RequestStatistics.NONE);
  }

  private static double dispersion(int burst) {
    DigestedLimit limit = DigestedLimit.ofFleet(20);
    bursts(limit, burst, false);
    return requireNonNull(limit.take()).statistics().arrivals();
  }

  /** A request a ms on average, in 20 s. */
  private static void bursts(DigestedLimit limit, int burst, boolean dropped) {
    for (int i = 0; i < 20_000; i++) {
      long began = MILLI * burst * (i / burst);
      limit.learn(new Sample(began, 20 * MILLI, began + 20 * MILLI, 20, false, dropped));
    }
  }

  /** Ends a request per ms for a second, with 1 to 20 in flight. */
  private void requests(long fromNanos, IntToDoubleFunction latencyMillis) {
    for (int i = 0; i < 1_000; i++) {
      int inFlight = 1 + random.nextInt(20);
      double millis = latencyMillis.applyAsDouble(inFlight) + 2 * random.nextDouble();
      long rtt = (long) (MILLI * millis);
      long start = fromNanos + i * MILLI;
      limit.learn(new Sample(start, rtt, start + rtt, inFlight, false, false));
    }
  }

  private void learn(long nowNanos, int inFlight) {
    long rtt = TimeUnit.MILLISECONDS.toNanos(20);
    limit.learn(new Sample(nowNanos - rtt, rtt, nowNanos, inFlight, false, false));
  }

  private SampleDigest taken() {
    return requireNonNull(limit.take());
  }
}
