package io.throttlekit.limit;

import static io.throttlekit.limit.LimitUsageTest.usage;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.QueueStep.Load;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueueStepTest {
  private static final int NONE = 0;
  private static final int SOME = 4; // of 60 requests: full, but not crowded
  private static final int MANY = 20;

  /** At a limit of 40, alpha is 4 and beta 6. */
  @ParameterizedTest
  @CsvSource({
    "40, 40, 34, 40, 40, false", // a queue of 6
    "40, 40, 33, 40, 39, true", // of 7: at least one step
    "40, 40, 20, 40, 35.1, true", // of 20: 0.35 of the excess
    "40, 40, 8, 40, 27, true", // of 32, five times the latency: half of the excess
    "40, 40, 37, 40, 43, false", // of 3, less than alpha
    "40, 40, 40, 40, 46, false", // none
    "40, 40, 40, 19, 40, false", // less than half of the limit was in use
    "20, 40, 40, 40, 46, false", // half of it is applied yet
    "19, 40, 40, 40, 40, false", // less than half of it
    "40, 40, 40, 7, 39, false", // at most 5 times the most in flight, in steps
    "40, 20, 30, 40, 46, false" // the rest of the limit is never applied
  })
  void movesAFullLimitTowardsAQueueBetweenAlphaAndBeta(
      double applied,
      double usable,
      double inService,
      int maxInFlight,
      double next,
      boolean decreased) {
    assertThat(step(new Load(40, usable, applied, inService), usage(maxInFlight, SOME, SOME)))
        .isEqualTo(new QueueStep(next, decreased));
  }

  @Test
  void slowRequestsDoNotLowerALimitThatRefusesNoneBelowTwiceTheMostInFlight() {
    Load slow = new Load(40, 40, 40, 8);
    assertThat(step(slow, usage(18, NONE, NONE)).limit()).isEqualTo(36);
    assertThat(step(slow, usage(30, NONE, NONE)).limit()).isEqualTo(40);
    // A burst that is refused in a single window is no overload, unless many are refused.
    assertThat(step(slow, usage(40, NONE, SOME)).limit()).isEqualTo(40);
    assertThat(step(slow, usage(40, NONE, MANY)).limit()).isEqualTo(27);
  }

  @Test
  void slowRequestsDoNotLowerItBelowOneAndAHalfTimesAPeak() {
    LimitUsage usage = usage(12, NONE, NONE);
    LimitUsageTest.add(usage, 12, 28, NONE);
    LimitUsageTest.add(usage, 12, 12, NONE);
    Load slow = new Load(60, 60, 60, 12);
    assertThat(step(slow, usage).limit()).isEqualTo(1.5 * 28 * 0.99);
  }

  @Test
  void aLimitThatRefusesManyWithoutAQueueRisesByHalf() {
    assertThat(step(new Load(40, 40, 40, 40), usage(40, MANY, MANY)).limit()).isEqualTo(60);
    assertThat(step(new Load(40, 40, 40, 38.5), usage(40, MANY, MANY)).limit())
        .isEqualTo(60); // a queue of 2 is chance
    assertThat(step(new Load(40, 40, 40, 37.5), usage(40, MANY, MANY)).limit())
        .isEqualTo(43); // one of 3 is not
  }

  @Test
  void itDoublesBeforeTheFirstQueue() {
    Load load = new Load(40, 40, 40, 40);
    assertThat(QueueStep.of(load, usage(40, MANY, MANY), true).limit()).isEqualTo(80);
    assertThat(QueueStep.of(load, usage(40, SOME, SOME), true).limit()).isEqualTo(46);
  }

  /** Their latencies show too little. */
  @Test
  void refusalsAmongFewRequestsDoNotRaiseItByHalf() {
    LimitUsage few = LimitUsageTest.few(40, MANY);
    assertThat(step(new Load(40, 40, 40, 40), few).limit()).isEqualTo(46);
  }

  /** Little's law does not hold for a limit that is not full. */
  @Test
  void aLimitThatRefusesNoneIsRaisedToTwiceTheMostInFlightOnly() {
    Load unused = new Load(40, 40, 40, 40);
    assertThat(step(unused, usage(20, NONE, NONE)).limit()).isEqualTo(40);
    assertThat(step(unused, usage(23, NONE, NONE)).limit()).isEqualTo(46);
    assertThat(step(unused, usage(23, SOME, SOME)).limit()).isEqualTo(46);
    assertThat(step(unused, usage(20, SOME, SOME)).limit()).isEqualTo(46);
  }

  /** Of 90 in flight for a moment, and 20 on average, most are a queue. */
  @Test
  void itIsRaisedToThreeTimesTheMeanInFlightAndTwentyAtMost() {
    LimitUsage usage = new LimitUsage();
    LimitUsageTest.addMoment(usage, 20, 90);
    double room = 3 * usage.meanInFlight() + 20;
    assertThat(room).isBetween(83.0, 84.0);
    assertThat(step(new Load(70, 70, 70, 70), usage).limit()).isEqualTo(room);
    assertThat(step(new Load(120, 120, 120, 20), usage).limit()).isEqualTo(room);
    LimitUsageTest.addMoment(usage, 20, 20); // the peak of 90 is not more
    assertThat(step(new Load(30, 30, 30, 30), usage).limit()).isEqualTo(1.5 * 30);
    assertThat(step(new Load(70, 70, 70, 70), usage).limit()).isEqualTo(70);
  }

  @ParameterizedTest
  @CsvSource({"1, 4", "9, 4", "12, 4", "18, 6", "60, 6", "70, 7", "200, 20"})
  void betaIsAThirdFromFourToSixAndThenATenth(double limit, int beta) {
    assertThat(QueueStep.beta(limit, limit, usage(10, SOME, SOME))).isEqualTo(beta);
  }

  @Test
  void slotsThatBurstsLeaveUnusedMakeTheQueueLonger() {
    LimitUsage usage = usage(20, SOME, SOME);
    for (int i = 0; i < 50; i++) { // ten of 30 are unused while requests are refused
      LimitUsageTest.add(usage, 30, 20, SOME);
    }
    assertThat(QueueStep.beta(30, 100, usage)).isEqualTo(4 * 6); // at most
    assertThat(QueueStep.beta(30, 20, usage)).isEqualTo(16); // 0.8 of those in service
    assertThat(QueueStep.beta(30, 5, usage)).isEqualTo(6); // never shorter
    LimitUsage alwaysFull = usage(30, SOME, SOME);
    assertThat(QueueStep.beta(30, 100, alwaysFull)).isEqualTo(6);
  }

  private static QueueStep step(Load load, LimitUsage usage) {
    return QueueStep.of(load, usage, false);
  }
}
