package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BaselineTest {
  private final Baseline baseline = new Baseline();

  @ParameterizedTest
  @CsvSource({"150, 150", "101, 101", "99, 99.5", "81, 90.5", "79, 79", "50, 50", "49, 50"})
  void aSlightlyLowerMeasurementCountsHalfAndOthersReplaceIt(double found, double then) {
    baseline.follow(100, true);
    baseline.measure(found);
    assertThat(baseline.nanos()).isCloseTo(then, within(1e-9));
  }

  @ParameterizedTest
  @CsvSource({"110, true", "111, false", "90, true", "89, false"})
  void aMeasurementWithinATenthConfirmsIt(double found, boolean confirms) {
    baseline.follow(100, true);
    assertThat(baseline.isConfirmedBy(found)).isEqualTo(confirms);
  }

  @Test
  void followsDownAFifthOfTheDifferenceAndUpOnlyWithoutAQueue() {
    baseline.follow(100, true);
    baseline.follow(50, true);
    assertThat(baseline.nanos()).isCloseTo(90, within(1e-9));
    baseline.follow(200, true);
    assertThat(baseline.nanos()).isCloseTo(90, within(1e-9));
    uncrowded(120, 10);
    baseline.follow(150, false);
    assertThat(baseline.nanos()).isCloseTo(100, within(1e-9)); // the third window
  }

  @Test
  void followsUpOnlyRequestsThatBeganWithNoMoreThanTheMeanInFlight() {
    baseline.follow(100, false);
    baseline.next(8);
    uncrowded(120, 10);
    for (int i = 0; i < 30; i++) {
      baseline.add(new Sample(0, 500, 0, 9, false, false));
    }
    baseline.follow(400, false);
    assertThat(baseline.nanos()).isCloseTo(110, within(1e-9)); // the second window
    baseline.next(8);
    uncrowded(200, 9); // too few
    baseline.follow(400, false);
    assertThat(baseline.nanos()).isCloseTo(110, within(1e-9));
  }

  @Test
  void aLatencyWithoutAQueueIsALowerBound() {
    baseline.follow(100, true);
    baseline.atLeast(0);
    assertThat(baseline.nanos()).isEqualTo(100);
    baseline.atLeast(105);
    assertThat(baseline.nanos()).isEqualTo(105);
  }

  private void uncrowded(long latency, int requests) {
    for (int i = 0; i < requests; i++) {
      baseline.add(new Sample(0, latency, 0, 8, false, false));
    }
  }
}
