package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A baseline of 1,000 ns. */
class BaselineTest {
  private final Baseline baseline = new Baseline();

  @Test
  void theFirstWindowIsTheBaseline() {
    assertThat(baseline.nanos()).isZero();
    assertThat(baseline.follow(1_000, 1, true, false)).isFalse();
    assertThat(baseline.nanos()).isEqualTo(1_000);
  }

  @Test
  void resumesWithAValueThatWasLearnedBefore() {
    baseline.resume(700);
    assertThat(baseline.nanos()).isEqualTo(700);
    baseline.follow(1_000, 50, false, false);
    assertThat(baseline.nanos()).isEqualTo(700);
  }

  @ParameterizedTest
  @CsvSource({"true, true", "true, false", "false, true", "false, false"})
  void followsAShorterLatencyByThreeTenths(boolean queued, boolean rises) {
    start();
    assertThat(baseline.follow(500, 1, queued, rises)).isFalse();
    assertThat(baseline.nanos()).isCloseTo(850, within(1e-9));
  }

  /** With 50 requests, a mean has half of the weight, which is a tenth or three tenths. */
  @ParameterizedTest
  @CsvSource({
    "1200, 50, false, 1010",
    "1200, 50, true, 1030",
    "1200, 150, false, 1015",
    "9000, 50, false, 1050", // as twice the baseline
    "9000, 50, true, 1150"
  })
  void followsALongerLatencyThatIsNoQueue(
      double latency, int requests, boolean queued, double nanos) {
    start();
    assertThat(baseline.follow(latency, requests, queued, false)).isFalse();
    assertThat(baseline.nanos()).isEqualTo(1_000);
    assertThat(baseline.follow(latency, requests, queued, true)).isFalse();
    assertThat(baseline.nanos()).isCloseTo(nanos, within(1e-9));
  }

  /** Columns: latency of requests without a queue, their number, baseline, confirmed. */
  @ParameterizedTest
  @CsvSource({
    "1100, 5, 1009.0909, true", // 5 of 55
    "1100, 15, 1023.0769, true",
    "1100, 50, 1030, true", // three tenths at most
    "5000, 50, 1060, true", // as 1.2 times the baseline
    "800, 50, 940, true",
    "705, 50, 911.5, true",
    "670, 50, 901, false" // below three quarters of 901
  })
  void requestsWithoutAQueueDecide(long latency, int requests, double nanos, boolean confirmed) {
    start();
    baseline.next(8);
    add(latency, 8, requests);
    assertThat(baseline.follow(100, 1_000, true, true)).isEqualTo(confirmed);
    assertThat(baseline.nanos()).isCloseTo(nanos, within(1e-3));
  }

  /** With 8 in service, nine tenths are 7 others. */
  @Test
  void requestsThatBeganWhileServersWereIdleMetNoQueue() {
    start();
    baseline.next(8);
    add(1_100, 8, 4);
    add(5_000, 9, 100);
    assertThat(baseline.follow(2_000, 104, true, false)).as("4 are too few").isFalse();
    assertThat(baseline.nanos()).isEqualTo(1_000);
    baseline.next(8);
    add(1_100, 8, 4);
    assertThat(baseline.follow(2_000, 4, true, false)).as("4 of each window").isFalse();
    baseline.next(8);
    add(1_100, 1, 5);
    assertThat(baseline.follow(2_000, 5, true, false)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "0.5, 1", "1.11, 1", "1.12, 2", "10, 10"})
  void aRequestAloneMetNoQueue(double inService, int most) {
    start();
    baseline.next(inService);
    add(1_000, most + 1, 20);
    assertThat(baseline.follow(2_000, 20, true, false)).isFalse();
    add(1_000, most, 5);
    assertThat(baseline.follow(2_000, 20, true, false)).isTrue();
  }

  @Test
  void noRequestOfTheFirstWindowIsKnownToHaveMetNoQueue() {
    add(100, 1, 20);
    baseline.follow(1_000, 20, true, false);
    assertThat(baseline.follow(2_000, 20, true, false)).isFalse();
    assertThat(baseline.nanos()).isEqualTo(1_000);
  }

  @ParameterizedTest
  @CsvSource({"1100, true", "1101, false", "900, true", "899, false"})
  void aMeasurementWithinATenthAgrees(double found, boolean agrees) {
    start();
    assertThat(baseline.agrees(found)).isEqualTo(agrees);
    assertThat(baseline.nanos()).isEqualTo(1_000);
  }

  @ParameterizedTest
  @CsvSource({
    "1500, 1500",
    "9000, 9000",
    "1001, 1001",
    "1000, 1000",
    "990, 995",
    "810, 905",
    "790, 790",
    "500, 500",
    "490, 500",
    "0, 500"
  })
  void aSlightlyShorterMeasurementCountsHalfAndOthersReplaceTheBaseline(double found, double then) {
    start();
    baseline.measure(found);
    assertThat(baseline.nanos()).isCloseTo(then, within(1e-9));
  }

  private void start() {
    baseline.follow(1_000, 50, false, false);
  }

  private void add(long latency, int inFlight, int requests) {
    for (int i = 0; i < requests; i++) {
      baseline.add(new Sample(0, latency, 0, inFlight, false, false));
    }
  }
}
