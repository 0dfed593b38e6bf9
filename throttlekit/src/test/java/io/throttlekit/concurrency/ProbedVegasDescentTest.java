package io.throttlekit.concurrency;

import static io.throttlekit.concurrency.Samples.completed;
import static io.throttlekit.concurrency.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The steps of a measurement, and its result if it times out. */
class ProbedVegasDescentTest {
  private final ProbedVegasCourse course = new ProbedVegasCourse();

  /** One ms per request in flight, and 20 in service. */
  @Test
  void descendsWhileAsMuchGetsThroughAsBefore() {
    ProbedVegasLimit law = course.measuring(40, 40); // of a queue that was there from the beginning
    assertThat(law.ceiling()).isEqualTo(28); // 70 % of the limit
    course.probed(law, 28, 50);
    assertThat(law.measuring()).isTrue();
    assertThat(law.ceiling()).isEqualTo(22);
    course.probed(law, 22, 50);
    assertThat(law.measuring()).isTrue();
    assertThat(law.ceiling()).isEqualTo(14); // an apparently large step
    course.probed(law, 20, 50);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(20e6);
    assertThat(law.ceiling()).isEqualTo(20 + 6);
  }

  /** Throughput is five percent lower: servers are idle, and another step would only cost. */
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

  /** If each step lowers throughput a little, the best of them counts. */
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
    law.inForce(10, ms(course.now)); // one Envoy has not acknowledged
    course.now += 600;
    law.inForce(28, ms(course.now));
    law.inForce(10, ms(course.now)); // still not
    course.probed(law, 28, 50);
    assertThat(law.measuring()).isTrue();
  }

  /** A tenth of a large limit may queue, of the one that is restored. */
  @Test
  void whatMayWaitFollowsFromWhatIsWorkedOn() {
    ProbedVegasLimit law = course.measuring(400, 400); // one ms per request in flight
    while (law.ceiling() > 20) {
      course.probed(law, law.ceiling(), 50);
    }
    course.probed(law, 20, 50);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(200e6); // half of it
    assertThat(law.ceiling()).isEqualTo(200 + 20);
  }

  /** Two latencies of 8 s are more than a quarter of the timeout of a step. */
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

  /** 16 of 20 in service, and no queue: at a limit of 26, which is 20 + 6. */
  @Test
  void goesDownByAFifthOfWhatIsWorkedOn() {
    ProbedVegasLimit law = course.calm(26, 20);
    for (int second = 0; second < 40 && !law.measuring(); second++) {
      course.saturated(law, 26, 12); // ms, 6 of them in the queue
    }
    assertThat(law.ceiling()).isEqualTo(16);
  }

  /** An Envoy that never acknowledges holds 15: the measurement uses the samples until then. */
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

  /** The next measurement is a minute later, not two. */
  @Test
  void whatAStepShowedConfirmsNothing() {
    ProbedVegasLimit law = course.calm(400, 20);
    for (int second = 0; second < 40 && !law.measuring(); second++) {
      course.saturated(law, 200, 400);
    }
    law.inForce(law.ceiling(), ms(course.now));
    course.now += 600;
    course.probed(law, 19, 50); // the capacity of the backend has risen
    assertThat(law.measuring()).isTrue();
    course.now += 30_000;
    law.refused(ms(course.now), 5);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(19.5e6);
    double ended = course.now;
    while (!law.measuring() && course.now - ended < 190_000) {
      law.inForce(law.ceiling(), ms(course.now));
      course.saturated(law, 19.5, 10);
    }
    assertThat(course.now - ended).isBetween(60_000.0, 69_000 + 2 * ProbedVegasCourse.WINDOW);
  }
}
