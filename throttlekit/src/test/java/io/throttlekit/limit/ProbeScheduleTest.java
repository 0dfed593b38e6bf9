package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Intervals of 1,000 ns, without jitter where no other is named, and a baseline of 100 ns. */
class ProbeScheduleTest {
  private static final long SEED = 3;
  private static final long INTERVAL = 1_000;
  private static final double BASELINE = 100;
  private static final double DURATION = 1;

  /** Monotonic time may overflow. */
  private static final long START = Long.MAX_VALUE - 500;

  private static final RandomGenerator SHORTEST = () -> 0L;
  private static final RandomGenerator LONGEST = () -> -1L;

  private final ProbeSchedule schedule = new ProbeSchedule(INTERVAL, SHORTEST);

  @Test
  void theFirstMeasurementIsDueInTheFirstWindowWithRefusals() {
    assertThat(schedule.isDue(BASELINE, START)).isFalse();
    schedule.next(false, 50);
    assertThat(schedule.isDue(BASELINE, START)).isFalse();
    schedule.next(true, 50);
    assertThat(schedule.isDue(BASELINE, START)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -5_000, Long.MIN_VALUE, START})
  void aLearnedBaselineIsMeasuredAfterAnInterval(long start) {
    schedule.resumed(BASELINE, start);
    refuse(3);
    assertDueAfter(1_000, start);
  }

  @Test
  void aMeasurementIsDueInTheThirdWindowInARowWithRefusals() {
    schedule.resumed(BASELINE, START);
    refuse(2);
    schedule.next(false, 50);
    refuse(2);
    assertThat(schedule.isDue(BASELINE, at(9_000))).isFalse();
    refuse(1);
    assertThat(schedule.isDue(BASELINE, at(9_000))).isTrue();
  }

  /** Columns: agreed, duration, wait. */
  @ParameterizedTest
  @CsvSource({
    "true, 10, 2000",
    "true, 50, 2000",
    "true, 51, 2040", // 40 durations
    "false, 10, 200",
    "false, 20, 200",
    "false, 21, 210" // 10 durations
  })
  void theWaitGrowsWithWhatAMeasurementCostAndLessensIfItChangedTheBaseline(
      boolean agreed, long duration, long wait) {
    schedule.ended(agreed, BASELINE, true, duration, START);
    refuse(3);
    assertDueAfter(wait, START);
  }

  @Test
  void theWaitIsNoShorterForAnExtremeDuration() {
    schedule.ended(true, BASELINE, true, Long.MAX_VALUE, START);
    refuse(3);
    assertThat(schedule.isDue(BASELINE, at(Long.MAX_VALUE))).isFalse();
  }

  @Test
  void requestsWithoutAQueuePostponeAMeasurement() {
    schedule.resumed(BASELINE, START);
    refuse(3);
    schedule.confirmed(BASELINE, DURATION, at(700)); // 300 are left, and 500 the least
    assertDueAfter(1_200, START);
    schedule.confirmed(BASELINE, DURATION, at(900));
    assertDueAfter(1_400, START);
  }

  /** Columns: duration, wait. */
  @ParameterizedTest
  @CsvSource({"50, 500", "51, 510", "400, 4000"})
  void theLongerAMeasurementTakesTheLongerRequestsWithoutAQueuePostponeIt(
      double duration, long wait) {
    schedule.resumed(BASELINE, START);
    refuse(3);
    schedule.confirmed(BASELINE, duration, at(900));
    assertDueAfter(900 + wait, START);
  }

  @Test
  void requestsWithoutAQueueDoNotShortenAWait() {
    schedule.ended(true, BASELINE, true, 10, START);
    refuse(3);
    schedule.confirmed(BASELINE, DURATION, at(10));
    schedule.confirmed(BASELINE, DURATION, at(1_400));
    assertDueAfter(2_000, START);
  }

  @Test
  void theFirstRequestsWithoutAQueueAreABaseline() {
    schedule.confirmed(BASELINE, DURATION, START);
    refuse(3);
    assertDueAfter(500, START);
  }

  @Test
  void requestsThatMayAllHaveQueuedAreNoBaseline() {
    schedule.next(true, 50);
    schedule.confirmed(BASELINE, DURATION, START);
    assertThat(schedule.isDue(BASELINE, START)).isTrue();
    schedule.next(false, 50);
    schedule.confirmed(BASELINE, DURATION, START);
    schedule.next(true, 50);
    assertThat(schedule.isDue(BASELINE, START)).isFalse();
  }

  @Nested
  class AMeasurementThatNoLimiterAcknowledged {
    AMeasurementThatNoLimiterAcknowledged() {
      schedule.ended(false, BASELINE, false, 10, START);
      refuse(3);
    }

    @Test
    void isRepeatedAfterTenIntervals() {
      assertDueAfter(10_000, START);
    }

    @Test
    void isRepeatedAnIntervalLaterIfLimitersAcknowledgeAgain() {
      schedule.acknowledged();
      assertDueAfter(1_000, START);
    }

    @Test
    void isNoLaterForAnAcknowledgement() {
      schedule.confirmed(BASELINE, DURATION, at(9_900));
      schedule.acknowledged();
      assertDueAfter(10_400, START);
    }

    @Test
    void causesNoneByARisenBaselineOrADoubt() {
      refuse(3, 500);
      assertThat(schedule.isDue(2 * BASELINE, at(9_999))).isFalse();
      assertThat(schedule.mayDoubt(at(9_999))).isFalse();
      schedule.acknowledged();
      assertThat(schedule.isDue(2 * BASELINE, at(999))).isTrue();
      assertThat(schedule.mayDoubt(at(999))).isTrue();
    }
  }

  @Test
  void anAcknowledgementChangesNothingElse() {
    schedule.ended(true, BASELINE, true, 10, START);
    refuse(3);
    schedule.acknowledged();
    assertDueAfter(2_000, START);
  }

  @Test
  void anAcknowledgementDoesNotLengthenAWait() {
    schedule.ended(true, BASELINE, false, 10, START);
    schedule.ended(false, BASELINE, true, 10, START);
    refuse(3);
    schedule.acknowledged();
    assertDueAfter(200, START);
  }

  /** Columns: baseline, requests in four windows, time since it was confirmed, due. */
  @ParameterizedTest
  @CsvSource({
    "116, 250, 250, true",
    "114.9, 250, 250, false", // 15 %
    "116, 249, 250, false", // a thousand requests
    "116, 250, 249, false", // a quarter of the interval
    "80, 250, 250, false"
  })
  void aRisenBaselineIsMeasuredEarlier(double baseline, int requests, long passed, boolean due) {
    schedule.ended(true, BASELINE, true, 10, START);
    refuse(4, requests);
    assertThat(schedule.isDue(baseline, at(passed))).isEqualTo(due);
  }

  @Test
  void aRisenBaselineThatRequestsConfirmIsNotMeasured() {
    schedule.ended(true, BASELINE, true, 10, START);
    refuse(4, 250);
    schedule.confirmed(120, DURATION, at(300));
    assertThat(schedule.isDue(120, at(800))).isFalse();
    refuse(4, 249);
    assertThat(schedule.isDue(139, at(799))).isFalse();
    refuse(1, 4);
    assertThat(schedule.isDue(137.9, at(799))).isFalse();
    assertThat(schedule.isDue(139, at(799))).isTrue();
    assertThat(schedule.isDue(139, at(549))).isFalse();
  }

  @Test
  void aRisenBaselineIsNotMeasuredDuringABurst() {
    schedule.ended(true, BASELINE, true, 10, START);
    schedule.next(false, 5_000);
    refuse(2);
    assertThat(schedule.isDue(200, at(900))).isFalse();
    refuse(1);
    assertThat(schedule.isDue(200, at(900))).isTrue();
  }

  @Test
  void aBaselineThatNothingConfirmedForAQuarterOfAnIntervalMayBeDoubted() {
    schedule.resumed(BASELINE, START);
    refuse(2);
    assertThat(schedule.mayDoubt(at(250))).isFalse();
    refuse(1);
    assertThat(schedule.mayDoubt(at(249))).isFalse();
    assertThat(schedule.mayDoubt(at(250))).isTrue();
    schedule.confirmed(BASELINE, DURATION, at(250));
    assertThat(schedule.mayDoubt(at(499))).isFalse();
    assertThat(schedule.mayDoubt(at(500))).isTrue();
  }

  @Test
  void aMeasuredBaselineIsNotDoubtedForHalfAnInterval() {
    schedule.ended(true, BASELINE, true, 10, START);
    refuse(3);
    assertThat(schedule.mayDoubt(at(499))).isFalse();
    assertThat(schedule.mayDoubt(at(500))).isTrue();
  }

  /** With a generator of the largest number. */
  @Test
  void eachWaitIsUpToFifteenPercentLonger() {
    ProbeSchedule longest = new ProbeSchedule(1_000_000, LONGEST);
    longest.resumed(BASELINE, START);
    for (int i = 0; i < 3; i++) {
      longest.next(true, 1);
    }
    assertThat(longest.isDue(BASELINE, at(1_149_998))).isFalse();
    assertThat(longest.isDue(BASELINE, at(1_150_000))).isTrue();
    longest.confirmed(BASELINE, DURATION, at(1_000_000));
    assertThat(longest.isDue(BASELINE, at(1_574_998))).isFalse();
    assertThat(longest.isDue(BASELINE, at(1_575_000))).isTrue();
    longest.ended(true, BASELINE, true, 1, START);
    assertThat(longest.isDue(BASELINE, at(2_299_998))).isFalse();
    assertThat(longest.isDue(BASELINE, at(2_300_000))).isTrue();
    longest.ended(true, BASELINE, false, 1, START);
    assertThat(longest.isDue(BASELINE, at(11_499_998))).isFalse();
    assertThat(longest.isDue(BASELINE, at(11_500_000))).isTrue();
    longest.acknowledged();
    assertThat(longest.isDue(BASELINE, at(1_149_998))).isFalse();
    assertThat(longest.isDue(BASELINE, at(1_150_000))).isTrue();
  }

  @Test
  void theMeasurementsOfAFleetAreSpread() {
    SplittableRandom random = new SplittableRandom(SEED);
    int[] due = new int[3];
    for (int node = 0; node < 300; node++) {
      ProbeSchedule one = new ProbeSchedule(INTERVAL, random);
      one.resumed(BASELINE, START);
      for (int i = 0; i < 3; i++) {
        one.next(true, 1);
      }
      assertThat(one.isDue(BASELINE, at(999))).as("seed %s", SEED).isFalse();
      assertThat(one.isDue(BASELINE, at(1_150))).as("seed %s", SEED).isTrue();
      due[0] += one.isDue(BASELINE, at(1_037)) ? 1 : 0;
      due[1] += one.isDue(BASELINE, at(1_075)) ? 1 : 0;
      due[2] += one.isDue(BASELINE, at(1_112)) ? 1 : 0;
    }
    assertThat(due[0]).as("seed %s", SEED).isBetween(50, 100);
    assertThat(due[1]).as("seed %s", SEED).isBetween(120, 180);
    assertThat(due[2]).as("seed %s", SEED).isBetween(200, 250);
  }

  private static long at(long nanos) {
    return START + nanos;
  }

  private void refuse(int windows) {
    refuse(windows, 1);
  }

  private void refuse(int windows, int requests) {
    for (int i = 0; i < windows; i++) {
      schedule.next(true, requests);
    }
  }

  private void assertDueAfter(long nanos, long start) {
    assertThat(schedule.isDue(BASELINE, start + nanos - 1)).isFalse();
    assertThat(schedule.isDue(BASELINE, start + nanos)).isTrue();
  }
}
