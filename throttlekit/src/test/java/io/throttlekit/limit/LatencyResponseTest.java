package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.stats.Slope;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LatencyResponseTest {
  private static final long SEED = 5;

  private final LatencyResponse response = new LatencyResponse();
  private final SplittableRandom random = new SplittableRandom(SEED);
  private double now;

  @Test
  void withoutEvidenceNothingIsCertain() {
    assertNothing();
    response.next(20, 40e6, 20e6, true);
    assertNothing();
    response.skip();
    assertNothing();
  }

  @Test
  void latencyOfRequestsRisesAsMuchAsTheyDoBehindAQueue() {
    requests(20, inFlight -> inFlight);
    assertThat(response.follows()).as("seed %s", SEED).isCloseTo(1, within(0.1));
    assertThat(response.isQueue()).isTrue();
    assertThat(response.isNoQueue()).isFalse();
  }

  @Test
  void latencyOfRequestsStaysTheSameWithoutAQueue() {
    requests(20, _ -> 20);
    assertThat(response.follows()).as("seed %s", SEED).isCloseTo(0, within(0.1));
    assertThat(response.isQueue()).isFalse();
    assertThat(response.isNoQueue()).isTrue();
  }

  @Test
  void theLatencyOfARequestIsAtMostFourTimesTheMean() {
    LatencyResponse capped = new LatencyResponse();
    LatencyResponse other = new LatencyResponse();
    for (LatencyResponse each : new LatencyResponse[] {capped, other}) {
      each.next(20, 20e6, 10e6, false);
      for (int i = 0; i < 1_000; i++) {
        int inFlight = 10 + i * 8 % 21;
        double longest = each == capped ? 1e6 : 80;
        each.add(sample(i, inFlight > 28 ? longest : 20, inFlight));
      }
      each.next(20, 20e6, 10e6, false);
    }
    assertThat(capped.follows()).isEqualTo(other.follows()).isPositive();
  }

  /** One ns of latency, and of its rise, in ten requests. */
  @ParameterizedTest
  @CsvSource({"0.25, 0.25", "0.6, 0.6", "1, 1", "3, 1", "-0.5, 0"})
  void theElasticityIsFromZeroToOne(double slope, double follows) {
    nodes(10, 10, new Slope(slope, 20));
    assertThat(response.follows()).isCloseTo(follows, within(1e-9));
  }

  @ParameterizedTest
  @CsvSource({"0.39, false", "0.41, true"})
  void requestsQueueFromFourTenthsOn(double slope, boolean queue) {
    nodes(10, 10, new Slope(slope, 20));
    assertThat(response.isQueue()).isEqualTo(queue);
  }

  @Test
  void theSlopeIsRelativeToTheMeans() {
    nodes(100, 10e6, new Slope(5e4, 1e-8)); // 100 · 50 µs of 10 ms, with an error of 100 µs
    assertThat(response.follows()).isCloseTo(0.5, within(1e-9));
    nodes(100, 10e6, new Slope(1e5, 1e-8));
    assertThat(response.follows()).isCloseTo((0.7 * 0.5 + 1) / 1.7, within(1e-9));
  }

  /** 1.5 errors below 0.4 are a precision of 14.06. */
  @Test
  void oneAndAHalfErrorsBelowFourTenthsThereIsCertainlyNoQueue() {
    nodes(10, 10, new Slope(0, 14));
    assertThat(response.isNoQueue()).isFalse();
    LatencyResponse other = new LatencyResponse();
    other.add(new Slope(0, 14.1));
    other.next(10, 10, 1, false);
    assertThat(other.isNoQueue()).isTrue();
  }

  @Test
  void thePrecisionOfNodesIsTheirMean() {
    nodes(10, 10, new Slope(0, 8), new Slope(0, 8), new Slope(0, 8));
    assertThat(response.isNoQueue()).isFalse();
    LatencyResponse other = new LatencyResponse();
    other.add(new Slope(0.3, 15));
    other.add(new Slope(-0.3, 15));
    other.next(10, 10, 1, false);
    assertThat(other.isNoQueue()).isTrue();
  }

  @Test
  void aNodeCountsInOneWindow() {
    nodes(10, 10, new Slope(0, 10));
    for (int i = 0; i < 5; i++) {
      response.next(10, 10, 1, false); // seven tenths of the evidence are left
    }
    nodes(10, 10, new Slope(1, 10));
    double left = Math.pow(0.7, 6);
    assertThat(response.follows()).isCloseTo(1 / (1 + left), within(1e-9));
  }

  @Test
  void samplesAreNoMorePreciseThanTheModel() {
    nodes(10, 10, new Slope(0.1, 1e12)); // 0.1 + 1.5 / √20
    assertThat(response.isNoQueue()).isFalse();
    nodes(10, 10, new Slope(0.1, 1e12)); // 0.1 + 1.5 / √34
    assertThat(response.isNoQueue()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.MAX_VALUE, Double.POSITIVE_INFINITY})
  void aPerfectSlopeIsASlope(double precision) {
    nodes(10, 10, new Slope(0.5, precision));
    assertThat(response.follows()).isCloseTo(0.5, within(1e-9));
    assertThat(response.isNoQueue()).isFalse();
  }

  /** A quarter longer than the baseline, latency counts in full. */
  @Test
  void latencyNearTheBaselineHasLittleEvidence() {
    nodes(10, 10, new Slope(1, 10));
    response.add(new Slope(0, 10));
    response.next(10, 11, 10, false); // 0.4 of the weight
    assertThat(response.follows()).isCloseTo(7.0 / (7 + 0.4 * 10 * 1.21), within(1e-9));
    double before = response.follows();
    response.add(new Slope(0, 10));
    response.next(10, 9, 10, false); // none
    assertThat(response.follows()).isCloseTo(before, within(1e-9));
    response.add(new Slope(0, 10));
    response.next(10, 10, 10, false); // none
    assertThat(response.follows()).isCloseTo(before, within(1e-9));
  }

  @Test
  void latencyThatFollowsAFullLimitIsAQueue() {
    response.next(20, 20e6, 10e6, true);
    response.next(40, 40e6, 10e6, true);
    assertThat(response.isQueue()).isTrue();
    assertThat(response.follows()).isCloseTo(1, within(1e-6));
  }

  @Test
  void latencyThatStaysAtAFullLimitIsNoQueue() {
    for (int i = 0; i < 10; i++) {
      response.next(i % 2 == 0 ? 20 : 60, 20e6, 10e6, true);
    }
    assertThat(response.isQueue()).isFalse();
    assertThat(response.isNoQueue()).isTrue();
  }

  @Test
  void windowsAreComparedWhileTheLimitIsFull() {
    response.next(20, 20e6, 10e6, false);
    response.next(40, 40e6, 10e6, false);
    assertNothing();
    response.next(20, 20e6, 10e6, true);
    response.next(30, 30e6, 10e6, false);
    response.next(40, 40e6, 10e6, true);
    assertNothing();
  }

  @Test
  void windowsOfOneLimitSayNothing() {
    for (int i = 0; i < 30; i++) {
      response.next(174, 20e6 + 1e6 * random.nextDouble(), 10e6, true);
      assertNothing();
    }
  }

  @Test
  void aSkippedWindowEndsTheComparison() {
    response.next(20, 20e6, 10e6, true);
    response.next(40, 40e6, 10e6, true);
    response.add(new Slope(1, 1));
    response.skip();
    assertNothing();
    response.next(80, 80e6, 10e6, true);
    assertNothing();
    response.next(160, 160e6, 10e6, true);
    assertThat(response.isQueue()).isTrue();
  }

  /** Both trends are of elasticities of 11.5, which count as −1 and 2, as 0.64 of a precision. */
  @Test
  void theTrendOfWindowsIsBounded() {
    double scale = 22 / 60e6;
    response.next(20, 20e6, 1e6, true);
    response.add(new Slope(0, 2.5 * scale * scale));
    response.next(22, 60e6, 1e6, true);
    assertThat(response.follows()).isCloseTo(2 * 0.636 / (0.636 + 2.5), within(0.01));
    LatencyResponse falling = new LatencyResponse();
    scale = 22 / 20e6;
    falling.next(20, 60e6, 1e6, true);
    falling.add(new Slope(1 / scale, 2.5 * scale * scale));
    falling.next(22, 20e6, 1e6, true);
    assertThat(falling.follows()).isCloseTo((2.5 - 0.636) / (0.636 + 2.5), within(0.01));
  }

  @Test
  void aSliceIsThreeLatencies() {
    assertThat(LatencyResponse.slice(20e6)).isEqualTo(60_000_000);
    assertThat(LatencyResponse.slice(0)).isEqualTo(1);
    assertThat(LatencyResponse.slice(Double.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
  }

  private void assertNothing() {
    assertThat(response.follows()).isZero();
    assertThat(response.isQueue()).isFalse();
    assertThat(response.isNoQueue()).isFalse();
  }

  private void nodes(double meanInFlight, double meanNanos, Slope... slopes) {
    for (Slope slope : slopes) {
      response.add(slope);
    }
    response.next(meanInFlight, meanNanos, meanNanos / 10, false);
  }

  /** Ends windows of a second with a request per ms, with 10 to 30 in flight. */
  private void requests(int windows, IntToDoubleFunction latencyMillis) {
    for (int window = 0; window < windows; window++) {
      for (int i = 0; i < 1_000; i++) {
        int inFlight = 10 + random.nextInt(21);
        double latency = latencyMillis.applyAsDouble(inFlight) * (0.8 + 0.4 * random.nextDouble());
        response.add(sample(now++, latency, inFlight));
      }
      response.next(20, 20e6, 10e6, false);
    }
  }

  private static Sample sample(double startMillis, double latencyMillis, int inFlight) {
    long start = ms(startMillis);
    long rtt = ms(latencyMillis);
    return new Sample(start, rtt, start + rtt, inFlight, false, false);
  }
}
