package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.dropped;
import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** The measurement of the baseline below a lowered limit. */
class ProbedVegasMeasurementTest {
  private static final double MILLI = 1e6;

  private final ProbedVegasCourse course = ProbedVegasCourse.of(20, 20);

  /** The latency of the first window is that of a queue. */
  @Test
  void findsTheBaselineOfABackendThatWasFullFromTheStart() {
    ProbedVegasLimit algorithm = course.measuring(40);
    assertThat(algorithm.baseline.nanos()).isGreaterThan(35 * MILLI);
    course.endMeasurement(algorithm);
    assertThat(algorithm.baseline.nanos()).isCloseTo(20 * MILLI, within(MILLI));
    assertThat(algorithm.limit()).isCloseTo(37, within(2)); // 1 + 20 + 3.5 · √20
  }

  /** 0.7 · 20. */
  @Test
  void theFirstStepIsSevenTenthsOfTheRequestsInService() {
    ProbedVegasLimit algorithm = course.calm(20, 10);
    for (int i = 0; i < 60 && !algorithm.isProbing(); i++) {
      course.full(algorithm);
    }
    assertThat(algorithm.isProbing()).isTrue();
    assertThat(algorithm.limit()).isCloseTo(14, within(1));
  }

  /** 0.3 · 145, which is more than 0.7 · 20: the first windows of the queue lowered 217 to 145. */
  @Test
  void theFirstStepIsAtLeastThreeTenthsOfTheLimit() {
    ProbedVegasLimit algorithm = course.from(500);
    course.window(algorithm, 10, 0);
    for (int i = 0; i < 3 && !algorithm.isProbing(); i++) {
      course.full(algorithm);
    }
    assertThat(algorithm.isProbing()).isTrue();
    assertThat(algorithm.limit()).isCloseTo(43, within(1));
  }

  /** Though three times the limit are in flight, which an earlier limit admitted. */
  @Test
  void theFirstStepIsAtMostSevenTenthsOfTheLimit() {
    ProbedVegasLimit algorithm = course.from(40);
    int before = 0;
    for (int i = 0; i < 30 && !algorithm.isProbing(); i++) {
      before = algorithm.limit();
      course.window(algorithm, 3 * before, 400);
    }
    assertThat(algorithm.isProbing()).isTrue();
    assertThat(algorithm.limit()).isCloseTo((int) (0.7 * before), within(1));
  }

  /** Four times what the backend serves at once: its latency without a queue cannot be measured. */
  @Test
  void aLeastLimitThatQueuesKeepsTheLimitCloseToIt() {
    ProbedVegasLimit algorithm = course.from(80, 120);
    int measurements = 0;
    for (int i = 0; i < 300; i++) {
      if (algorithm.isProbing()) {
        course.endMeasurement(algorithm);
        measurements++;
      }
      course.full(algorithm);
      if (i > 100 && !algorithm.isProbing()) {
        assertThat(algorithm.limit()).isBetween(80, 88);
      }
    }
    assertThat(measurements).isPositive();
  }

  @Test
  void theLimitFallsWithEachStep() {
    ProbedVegasLimit algorithm = course.measuring(40);
    int lowered = algorithm.limit();
    int steps = 0;
    while (algorithm.isProbing()) {
      assertThat(algorithm.limit()).isLessThanOrEqualTo(lowered);
      lowered = algorithm.limit();
      course.measured(algorithm, 50);
      steps++;
    }
    assertThat(steps).isGreaterThan(1);
  }

  /** 200 servers, and at most 40 requests in flight. */
  @Test
  void isNotDueWhereLatencyDoesNotFollowTheRequestsInFlight() {
    ProbedVegasCourse free = ProbedVegasCourse.of(200, 20);
    ProbedVegasLimit algorithm = free.from(40);
    for (int i = 0; i < 5; i++) {
      free.window(algorithm, 40, 400);
      assertThat(algorithm.isProbing()).isFalse();
    }
  }

  @Test
  void isNotDueWhileRequestsWithoutAQueueConfirmTheBaseline() {
    ProbedVegasLimit algorithm = course.calm(20, 10);
    for (int i = 0; i < 300; i++) {
      course.window(algorithm, 12, i % 2 == 0 ? 5 : 0);
      assertThat(algorithm.isProbing()).isFalse();
    }
  }

  /** At half an interval, after the last window in which servers were idle. */
  @Test
  void isDueInALastingOverload() {
    ProbedVegasLimit algorithm = course.calm(20, 10);
    double calm = course.now;
    while (!algorithm.isProbing() && course.now - calm < 90_000) {
      course.full(algorithm);
    }
    assertThat(course.now - calm).isBetween(30_000.0, 34_500 + 2 * ProbedVegasCourse.WINDOW);
  }

  @Test
  void oneThatAgreesIsRepeatedAfterTwoIntervals() {
    ProbedVegasLimit algorithm = course.calm(20, 10);
    for (int i = 0; i < 60 && !algorithm.isProbing(); i++) {
      course.full(algorithm);
    }
    course.endMeasurement(algorithm);
    double measured = course.now;
    while (!algorithm.isProbing() && course.now - measured < 190_000) {
      course.full(algorithm);
    }
    assertThat(course.now - measured).isBetween(120_000.0, 138_000 + 3 * ProbedVegasCourse.WINDOW);
  }

  @Test
  void waitsForTheAcknowledgementAndTheMargin() {
    ProbedVegasLimit algorithm = acknowledgedMeasuring();
    double lowered = course.now;
    int first = algorithm.limit();
    course.measured(algorithm, 200);
    assertThat(algorithm.limit()).isEqualTo(first);
    algorithm.acknowledged(first + 1, ms(lowered)); // not all of them yet
    course.measured(algorithm, 200);
    assertThat(algorithm.limit()).isEqualTo(first);
    algorithm.acknowledged(first, ms(course.now));
    for (int i = 0; i < 200; i++) {
      course.complete(algorithm, course.now + 600, first);
    }
    assertThat(algorithm.limit()).as("within the margin").isEqualTo(first);
    course.now += 600;
    course.measured(algorithm, 50);
    assertThat(algorithm.limit()).as("the next step, or the end").isNotEqualTo(first);
  }

  @Test
  void withoutAcknowledgementItTimesOut() {
    ProbedVegasLimit algorithm = acknowledgedMeasuring();
    double baseline = algorithm.baseline.nanos();
    int lowered = algorithm.limit();
    course.complete(algorithm, course.now + 29_900, 10);
    assertThat(algorithm.limit()).isEqualTo(lowered);
    course.complete(algorithm, course.now + 30_100, 10);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.limit()).isGreaterThan(lowered);
    assertThat(algorithm.baseline.nanos()).isEqualTo(baseline);
  }

  @Test
  void withoutSamplesItTimesOutOnATick() {
    ProbedVegasLimit algorithm = course.measuring(40);
    int lowered = algorithm.limit();
    algorithm.onTick(ms(course.now + 29_900));
    assertThat(algorithm.limit()).isEqualTo(lowered);
    algorithm.onTick(ms(course.now + 30_100));
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.limit()).isGreaterThan(lowered);
    int restored = algorithm.limit();
    algorithm.refused(ms(course.now + 30_200), 10); // no silence of the backend
    assertThat(algorithm.limit()).isEqualTo(restored);
  }

  /** A limiter that does not acknowledge would keep the limit low for the others. */
  @Test
  void noneStartsBeforeThePreviousIsAcknowledged() {
    ProbedVegasLimit algorithm = course.from(40);
    algorithm.acknowledged(40, ms(course.now));
    int measured = 0;
    for (int second = 0; second < 500; second++) {
      boolean before = algorithm.isProbing();
      course.full(algorithm);
      measured += !before && algorithm.isProbing() ? 1 : 0;
    }
    assertThat(measured).isEqualTo(1);
  }

  @Test
  void dropsKeepTheLimitLow() {
    ProbedVegasLimit algorithm = course.measuring(40);
    double baseline = algorithm.baseline.nanos();
    int lowered = algorithm.limit();
    for (int i = 0; i < 50; i++) {
      algorithm.learn(dropped(course.now + 1_000, 1_000, lowered));
    }
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.limit()).isBetween((int) (0.9 * lowered) - 1, lowered - 1);
    assertThat(algorithm.baseline.nanos()).isEqualTo(baseline);
  }

  /** They began with servers idle, and would raise the limit by the room that this left. */
  @Test
  void requestsOfTheLoweredLimitAreIgnoredOnceItIsRestored() {
    ProbedVegasLimit algorithm = acknowledgedMeasuring();
    endAcknowledged(algorithm);
    int restored = algorithm.limit();
    double baseline = algorithm.baseline.nanos();
    ProbedVegasCourse other = course.then(20, 5);
    other.window(algorithm, 10, 0); // the limiter has not acknowledged the restored limit
    assertThat(algorithm.limit()).isEqualTo(restored);
    assertThat(algorithm.baseline.nanos()).isEqualTo(baseline);
    algorithm.acknowledged(restored, ms(other.now));
    other.window(algorithm, 10, 0);
    other.window(algorithm, 10, 0);
    assertThat(algorithm.baseline.nanos()).isLessThan(baseline);
  }

  @Test
  void aBackendThatHangsAfterAMeasurementLowersTheLimit() {
    ProbedVegasLimit algorithm = acknowledgedMeasuring();
    endAcknowledged(algorithm);
    int restored = algorithm.limit();
    for (int i = 0; i < 10; i++) { // requests that do not count end
      algorithm.refused(ms(course.now += 500), 100);
      course.complete(algorithm, course.now, 20);
      assertThat(algorithm.limit()).isEqualTo(restored);
    }
    for (int i = 0; i < 5; i++) {
      algorithm.refused(ms(course.now += 500), 100);
    }
    assertThat(algorithm.limit()).isEqualTo(restored / 2);
  }

  @Test
  void aMissingAcknowledgementIsAwaitedForHalfAnIntervalOnly() {
    ProbedVegasLimit algorithm = acknowledgedMeasuring();
    endAcknowledged(algorithm);
    int restored = algorithm.limit();
    double measured = course.now;
    while (algorithm.limit() == restored && course.now - measured < 100_000) {
      course.mixed(algorithm, 94, 6, 5); // drops must not be ignored for longer
    }
    assertThat(course.now - measured).isBetween(30_000.0, 30_000 + 7 * ProbedVegasCourse.WINDOW);
  }

  @Test
  void theFirstOneAfterAResumptionFollowsAfterAnInterval() {
    ProbedVegasLimit before = course.calm(40, 10);
    ProbedVegasLimit algorithm = course.from(40);
    algorithm.resume(before.baselineNanos(), ms(course.now));
    assertThat(algorithm.baselineNanos()).isEqualTo(ms(20));
    double began = course.now;
    while (!algorithm.isProbing() && course.now - began < 100_000) {
      course.full(algorithm);
    }
    assertThat(course.now - began).isBetween(60_000.0, 69_000 + 3 * ProbedVegasCourse.WINDOW);
  }

  @Test
  void aQueueOfTheFirstWindowsIsNoBaselineAfterAResumption() {
    ProbedVegasLimit algorithm = course.from(60);
    algorithm.resume(ms(20), ms(course.now));
    for (int i = 0; i < 10; i++) {
      course.full(algorithm);
    }
    assertThat(algorithm.baseline.nanos()).isCloseTo(20 * MILLI, within(MILLI));
    assertThat(algorithm.limit()).isCloseTo(37, within(3));
  }

  @Test
  void nothingToResumeChangesNothing() {
    ProbedVegasLimit algorithm = course.from(40);
    algorithm.resume(course.from(40).baselineNanos(), ms(course.now));
    for (int i = 0; i < 5 && !algorithm.isProbing(); i++) {
      course.full(algorithm);
    }
    assertThat(algorithm.isProbing()).isTrue();
  }

  /** Returns an algorithm during a measurement, whose limiter has acknowledged limits before. */
  private ProbedVegasLimit acknowledgedMeasuring() {
    ProbedVegasLimit algorithm = course.from(40);
    for (int i = 0; i < 30 && !algorithm.isProbing(); i++) {
      algorithm.acknowledged(algorithm.limit(), ms(course.now));
      course.full(algorithm);
    }
    assertThat(algorithm.isProbing()).isTrue();
    return algorithm;
  }

  private void endAcknowledged(ProbedVegasLimit algorithm) {
    for (int step = 0; step < 10 && algorithm.isProbing(); step++) {
      algorithm.acknowledged(algorithm.limit(), ms(course.now));
      course.now += 600;
      course.measured(algorithm, 50);
    }
    assertThat(algorithm.isProbing()).isFalse();
  }
}
