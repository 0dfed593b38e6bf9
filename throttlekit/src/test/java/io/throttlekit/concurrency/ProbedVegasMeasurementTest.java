package io.throttlekit.concurrency;

import static io.throttlekit.concurrency.Samples.completed;
import static io.throttlekit.concurrency.Samples.dropped;
import static io.throttlekit.concurrency.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The measurement of the baseline below a lowered limit. */
class ProbedVegasMeasurementTest {
  private final ProbedVegasCourse course = new ProbedVegasCourse();

  @Test
  void fiveDecreasesThatDoNotHelpAreABackendThatBecameSlower() {
    ProbedVegasLimit law = course.calm(40, 20);
    for (int i = 0; i < 5; i++) {
      assertThat(law.measuring()).isFalse();
      course.saturated(law, 60, 40);
    }
    assertThat(law.measuring()).isTrue();
    int lowered = law.ceiling();
    course.probed(law, 60, 50);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(60e6);
    ProbedVegasCourse.assertRestored(law, lowered);
  }

  /** Most errors of a backend may be fast. */
  @Test
  void aMeasurementLeavesHalfOfTheBaseline() {
    ProbedVegasLimit law = course.measuring(40, 40);
    for (int step = 0; step < 8 && law.measuring(); step++) {
      course.probed(law, 1, 50);
    }
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(20e6);
  }

  /** At a limit of 40, 40 ms instead of 28: half of both would be too high for a long time. */
  @Test
  void aMeasurementFarBelowTheBaselineReplacesIt() {
    ProbedVegasLimit law = course.measuring(40, 40);
    course.probed(law, 28, 50); // throughput is the same
    course.probed(law, 28, 50);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(28e6);
    assertThat(law.ceiling()).isEqualTo(28 + 6);
  }

  @Test
  void decreasesThatLatencyFollowsAreNoDoubt() {
    ProbedVegasLimit law = course.calm(80, 20);
    for (int second = 0; second < 20; second++) {
      course.saturated(law, law.ceiling(), law.ceiling()); // one ms per request in flight
      assertThat(law.measuring()).isFalse();
    }
    assertThat(law.ceiling()).isBetween(22, 32); // 20 in service, and a small queue
  }

  @Test
  void aMeasurementBelowTheBaselineCountsHalf() {
    ProbedVegasLimit law = course.calm(40, 40);
    for (int i = 0; i < 5; i++) {
      course.saturated(law, 60, 40);
    }
    course.probed(law, 39, 50);
    assertThat(law.baselineNanos()).isEqualTo(39.5e6);
  }

  @Test
  void aMeasurementTakesOnlyRequestsThatEndOnceTheOlderQueueIsGone() {
    ProbedVegasLimit law = course.calm(40, 20);
    for (int i = 0; i < 5; i++) {
      course.saturated(law, 60, 40);
    }
    for (int i = 0; i < 500; i++) {
      law.learn(completed(course.now + 119, 60, 40));
    }
    assertThat(law.measuring()).isTrue();
    for (int i = 0; i < 49; i++) {
      law.learn(completed(course.now + 120, 60, 20));
    }
    assertThat(law.measuring()).isTrue();
    law.learn(completed(course.now + 120, 60, 20));
    assertThat(law.measuring()).isFalse();
  }

  @Test
  void aMeasurementTakesNoLatencyOfZero() {
    ProbedVegasLimit law = course.calm(40, 20);
    for (int i = 0; i < 5; i++) {
      course.saturated(law, 60, 40);
    }
    course.probed(law, 0, 200);
    assertThat(law.measuring()).isTrue();
    course.probed(law, 60, 50);
    assertThat(law.baselineNanos()).isEqualTo(60e6);
  }

  @Test
  void aMeasurementWaitsForAGateThatSaysWhenItObeysAndForTheMargin() {
    ProbedVegasLimit law = course.calm(40, 20);
    for (int i = 0; i < 5; i++) {
      law.inForce(law.ceiling(), ms(course.now));
      course.saturated(law, 60, 40);
    }
    double lowered = course.now;
    course.probed(law, 60, 200);
    assertThat(law.measuring()).isTrue();
    law.inForce(law.ceiling() + 1, ms(lowered)); // not all of them yet
    course.probed(law, 60, 200);
    assertThat(law.measuring()).isTrue();
    law.inForce(law.ceiling(), ms(course.now));
    for (int i = 0; i < 200; i++) {
      law.learn(completed(course.now + 719, 60, 20));
    }
    assertThat(law.measuring()).isTrue();
    for (int i = 0; i < 50; i++) {
      law.learn(completed(course.now + 720, 60, 20));
    }
    assertThat(law.measuring()).isFalse();
  }

  @Test
  void whatTheLoweredCeilingLetInDoesNotCountOnceItIsRaised() {
    ProbedVegasLimit law = course.obeyed();
    int restored = law.ceiling();
    course.window(law, 10, 40); // the limiter has not acknowledged the restored limit
    assertThat(law.ceiling()).isEqualTo(restored);
    law.inForce(law.ceiling(), ms(course.now));
    for (int i = 0; i < 500; i++) {
      law.learn(completed(course.now + 9 + i * 4, i * 4 + 10, 40)); // began 1 ms before
    }
    assertThat(law.ceiling()).isEqualTo(restored);
    course.window(law, 60, 40);
    course.window(law, 60, 40);
    assertThat(law.ceiling()).isGreaterThan(restored);
  }

  @Test
  void aGateThatNeverSaysThatItObeysAgainIsWaitedForHalfAnIntervalOnly() {
    ProbedVegasLimit law = course.obeyed();
    int restored = law.ceiling();
    double measured = course.now;
    while (law.ceiling() == restored && course.now - measured < 100_000) {
      course.mixed(law, 94, 6); // drops must not be ignored for longer
    }
    assertThat(course.now - measured).isBetween(30_000.0, 30_000 + 7 * ProbedVegasCourse.WINDOW);
  }

  @Test
  void aMeasurementThatNobodyHearsOfIsGivenUp() {
    ProbedVegasLimit law = course.calm(40, 20);
    for (int i = 0; i < 5; i++) {
      course.saturated(law, 60, 40);
    }
    int lowered = law.ceiling();
    assertThat(law.measuring()).isTrue();
    law.refused(ms(course.now + 29_000), 0);
    assertThat(law.ceiling()).isEqualTo(lowered);
    law.refused(ms(course.now + 30_000), 0);
    assertThat(law.measuring()).isFalse();
    ProbedVegasCourse.assertRestored(law, lowered);
  }

  /**
   * Limiters do not acknowledge again if the limit is the minimum before and during a measurement.
   */
  @Test
  void aCeilingThatCannotBeLoweredIsMeasuredAtOnceAndRises() {
    ProbedVegasLimit law =
        new ProbedVegasLimit(
            new LimitRange(4, 500, 4), ProbedVegasCourse.FIFTY, new SplittableRandom(7));
    law.inForce(4, 0);
    for (int i = 0; i < 10; i++) {
      course.window(law, 20, 1);
    }
    int obeyed = 4;
    for (int second = 0; second < 120; second++) {
      course.saturated(law, 40, law.ceiling()); // a slower backend, and no queue
      if (law.ceiling() != obeyed) {
        obeyed = law.ceiling();
        law.inForce(obeyed, ms(course.now));
      }
    }
    assertThat(law.baselineNanos()).isEqualTo(40e6);
    assertThat(law.ceiling()).isGreaterThan(20);
  }

  /**
   * A limiter that does not acknowledge would keep the limit halved half of the time for the
   * others.
   */
  @Test
  void noMeasurementBeginsBeforeTheLastOneIsOverForTheGate() {
    ProbedVegasLimit law = course.calm(40, 20);
    law.inForce(law.ceiling(), ms(course.now));
    int measured = 0;
    for (int second = 0; second < 600; second++) {
      boolean before = law.measuring();
      course.saturated(law, 60, law.ceiling());
      measured += !before && law.measuring() ? 1 : 0;
    }
    assertThat(measured).isEqualTo(1);
  }

  @Test
  void aMeasurementWithoutAnswerIsGivenUp() {
    ProbedVegasLimit law = course.calm(40, 20);
    for (int i = 0; i < 5; i++) {
      law.inForce(law.ceiling(), ms(course.now));
      course.saturated(law, 60, 40);
    }
    int lowered = law.ceiling();
    law.learn(completed(course.now + 29_999, 10, 20));
    assertThat(law.ceiling()).isEqualTo(lowered);
    law.learn(completed(course.now + 30_000, 10, 20));
    assertThat(law.measuring()).isFalse();
    ProbedVegasCourse.assertRestored(law, lowered);
    assertThat(law.baselineNanos()).isEqualTo(20e6);
  }

  @Test
  void requestsGivenUpWhileItMeasuresKeepTheCeilingLow() {
    ProbedVegasLimit law = course.calm(40, 20);
    for (int i = 0; i < 5; i++) {
      course.saturated(law, 60, 40);
    }
    int lowered = law.ceiling();
    for (int i = 0; i < 50; i++) {
      law.learn(dropped(course.now + 1_000, 1_000, lowered));
    }
    assertThat(law.measuring()).isFalse();
    assertThat(law.ceiling()).isBetween(lowered - 2, lowered - 1);
    assertThat(law.baselineNanos()).isEqualTo(20e6);
  }

  /** The second measurement confirms the baseline of the first within a tenth, or does not. */
  @ParameterizedTest
  @CsvSource({"20, 120000, 138000", "22, 120000, 138000", "23, 60000, 69000", "17, 60000, 69000"})
  void measuresAgainAMinuteOrTwoLaterWhileSaturated(double found, double least, double most) {
    for (int seed = 0; seed < 30; seed++) {
      course.now = 0;
      ProbedVegasLimit law =
          new ProbedVegasLimit(
              new LimitRange(4, 500, 40), ProbedVegasCourse.FIFTY, new SplittableRandom(seed));
      course.saturated(law, 20, 10); // the first window: its latency may include a queue
      assertThat(law.measuring()).isTrue();
      course.probed(law, found, 50);
      double measured = course.now;
      while (!law.measuring() && course.now - measured < 190_000) {
        course.saturated(law, found, 10);
      }
      assertThat(course.now - measured)
          .as("seed %s", seed)
          .isBetween(least, most + 2 * ProbedVegasCourse.WINDOW);
    }
  }
}
