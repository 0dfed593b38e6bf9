package io.throttlekit.concurrency;

import static io.throttlekit.concurrency.Samples.completed;
import static io.throttlekit.concurrency.Samples.dropped;
import static io.throttlekit.concurrency.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How the baseline is measured below a lowered ceiling. */
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

  /** A millisecond for each in flight, and 20 at work. */
  @Test
  void descendsWhileAsMuchGetsThroughAsBefore() {
    ProbedVegasLimit law = course.measuring(40, 40); // of a queue that was there from the beginning
    assertThat(law.ceiling()).isEqualTo(28); // 70 % of the ceiling
    course.probed(law, 28, 50);
    assertThat(law.measuring()).isTrue();
    assertThat(law.ceiling()).isEqualTo(22);
    course.probed(law, 22, 50);
    assertThat(law.measuring()).isTrue();
    assertThat(law.ceiling()).isEqualTo(14); // it is far down, it seems
    course.probed(law, 20, 50);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(20e6);
    assertThat(law.ceiling()).isEqualTo(20 + 6);
  }

  /** Five percent less gets through: servers are idle, and another step would only cost. */
  @Test
  void goesDownNoFartherThanIsNeeded() {
    ProbedVegasLimit law = course.measuring(40, 40);
    assertThat(law.ceiling()).isEqualTo(28);
    course.probed(law, 28 / 0.94, 50);
    assertThat(law.measuring()).isFalse();
    ProbedVegasLimit busier = course.measuring(40, 40);
    course.probed(busier, 28 / 0.96, 50);
    assertThat(busier.measuring()).isTrue();
  }

  /** Where a little less comes through with each step, the best of them counts. */
  @Test
  void aThroughputThatFallsStepByStepHasFallen() {
    ProbedVegasLimit law = course.measuring(40, 40);
    course.probed(law, 28 / 0.97, 50);
    assertThat(law.ceiling()).isEqualTo(22);
    course.probed(law, 22 / 0.94, 50);
    assertThat(law.measuring()).isFalse();
  }

  @Test
  void whatGatesLetInIsWhatCameThroughAndNotWhatTheyMay() {
    ProbedVegasLimit law = course.calm(40, 40);
    for (int second = 0; second < 40 && !law.measuring(); second++) {
      law.inForce(20, ms(course.now));
      course.saturated(law, 40, 19);
    }
    assertThat(law.ceiling()).isEqualTo(14); // 70 % of 20
    law.inForce(10, ms(course.now));
    course.now += 600;
    course.probed(law, 26, 50); // 10 in 26 ms are less than 20 in 40, and 14 would be more
    assertThat(law.measuring()).isFalse();
  }

  @Test
  void theMostThatGatesLetInMeanwhileIsWhatCameThrough() {
    ProbedVegasLimit law = course.measuring(40, 40);
    law.inForce(10, ms(course.now)); // one Envoy was not there
    course.now += 600;
    law.inForce(28, ms(course.now));
    course.probed(law, 28, 50);
    assertThat(law.measuring()).isTrue();
  }

  /** Two latencies of 8 s are more than a quarter of what a step may take. */
  @Test
  void whereTheOlderQueueIsNotGoneInTimeOnlyWhatBeganBelowTheCeilingCounts() {
    Descent descent = new Descent(28, 4, 40 / 8e9, 8e9, 0, false, ProbedVegasCourse.FIFTY);
    for (int i = 0; i < 100; i++) {
      assertThat(descent.learn(completed(7_990, 8_000, 28), false))
          .isInstanceOf(Descent.Outcome.Continues.class);
    }
    for (int i = 1; i < 50; i++) {
      assertThat(descent.learn(completed(8_000, 8_000, 28), false))
          .isInstanceOf(Descent.Outcome.Continues.class);
    }
    assertThat(descent.learn(completed(8_000, 8_000, 28), false))
        .isEqualTo(new Descent.Outcome.Measured(8e9));
  }

  /** 16 of 20 at work, and no queue: of a ceiling of 26, which 20 + 6 are. */
  @Test
  void goesDownByAFifthOfWhatIsWorkedOn() {
    ProbedVegasLimit law = course.calm(26, 20);
    for (int second = 0; second < 40 && !law.measuring(); second++) {
      course.saturated(law, 26, 12); // ms, of which 6 of waiting
    }
    assertThat(law.ceiling()).isEqualTo(16);
  }

  /** An Envoy that never obeys holds 15: the descent knows what it has seen until then. */
  @Test
  void whatAStepShowedCountsThoughTheNextHasNoEnd() {
    ProbedVegasLimit law = course.measuring(40, 40);
    law.inForce(28, ms(course.now));
    course.now += 600;
    course.probed(law, 28, 50);
    assertThat(law.ceiling()).isEqualTo(22);
    course.now += 30_000;
    law.refused(ms(course.now), 5);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(28e6);
  }

  @Test
  void whatAStepShowedIsNoReasonToHoldTheBackendForSlower() {
    ProbedVegasLimit law = course.calm(400, 20);
    for (int second = 0; second < 40 && !law.measuring(); second++) {
      course.saturated(law, 200, 400);
    }
    int lowered = law.ceiling();
    law.inForce(lowered, ms(course.now));
    course.now += 600;
    course.probed(law, 60, 50);
    assertThat(law.ceiling()).isEqualTo((int) (0.8 * lowered));
    course.now += 30_000;
    law.refused(ms(course.now), 5);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(20e6);
  }

  /** Most of the errors of a backend may be fast. */
  @Test
  void aMeasurementLeavesHalfOfTheBaseline() {
    ProbedVegasLimit law = course.measuring(40, 40);
    for (int step = 0; step < 8 && law.measuring(); step++) {
      course.probed(law, 1, 50);
    }
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(20e6);
  }

  /** At a ceiling of 40, 40 ms in place of 28: half of both would be too high for a long time. */
  @Test
  void aMeasurementFarBelowTheBaselineReplacesIt() {
    ProbedVegasLimit law = course.measuring(40, 40);
    course.probed(law, 28, 50); // as much gets through as before
    course.probed(law, 28, 50);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(28e6);
    assertThat(law.ceiling()).isEqualTo(28 + 6);
  }

  @Test
  void decreasesThatLatencyFollowsAreNoDoubt() {
    ProbedVegasLimit law = course.calm(80, 20);
    for (int second = 0; second < 20; second++) {
      course.saturated(law, law.ceiling(), law.ceiling()); // a millisecond for each in flight
      assertThat(law.measuring()).isFalse();
    }
    assertThat(law.ceiling()).isBetween(22, 32); // 20 at work, and a small queue
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
    course.window(law, 10, 40); // nothing says that the gate has raised its own
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
      course.mixed(law, 94, 6); // given up, and nobody may be deaf to that for longer
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

  /** Gates say nothing new where the ceiling is the least before and during a measurement. */
  @Test
  void aCeilingThatCannotBeLoweredIsMeasuredAtOnceAndRises() {
    ProbedVegasLimit law =
        new ProbedVegasLimit(
            new CeilingRange(4, 500, 4), ProbedVegasCourse.FIFTY, new SplittableRandom(7));
    law.inForce(4, 0);
    for (int i = 0; i < 10; i++) {
      course.window(law, 20, 1);
    }
    int obeyed = 4;
    for (int second = 0; second < 120; second++) {
      course.saturated(law, 40, law.ceiling()); // a backend that became slower, and no queue
      if (law.ceiling() != obeyed) {
        obeyed = law.ceiling();
        law.inForce(obeyed, ms(course.now));
      }
    }
    assertThat(law.baselineNanos()).isEqualTo(40e6);
    assertThat(law.ceiling()).isGreaterThan(20);
  }

  /** Who stands still while others obey would keep the ceiling halved half of the time. */
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

  /** The second measurement finds the baseline of the first within a tenth, or does not. */
  @ParameterizedTest
  @CsvSource({"20, 120000, 138000", "22, 120000, 138000", "23, 60000, 69000", "17, 60000, 69000"})
  void measuresAgainAMinuteOrTwoLaterWhileSaturated(double found, double least, double most) {
    for (int seed = 0; seed < 30; seed++) {
      course.now = 0;
      ProbedVegasLimit law =
          new ProbedVegasLimit(
              new CeilingRange(4, 500, 40), ProbedVegasCourse.FIFTY, new SplittableRandom(seed));
      course.saturated(law, 20, 10); // the first window: what it saw may have been a queue
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
