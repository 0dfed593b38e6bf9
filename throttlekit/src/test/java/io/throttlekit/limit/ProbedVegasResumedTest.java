package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** An algorithm that continues what another instance has learned. */
class ProbedVegasResumedTest {
  private final ProbedVegasCourse course = new ProbedVegasCourse();

  @Test
  void theFirstMeasurementFollowsAfterAnInterval() {
    ProbedVegasLimit before = course.calm(40, 20);
    ProbedVegasLimit algorithm = course.from(40);
    algorithm.resume(before.baselineNanos(), ms(course.now));
    assertThat(algorithm.baselineNanos()).isEqualTo(ms(20));
    double began = course.now;
    while (!algorithm.isProbing() && course.now - began < 100_000) {
      course.saturated(algorithm, 20, 19);
    }
    assertThat(course.now - began).isBetween(60_000.0, 71_000.0);
    ProbedVegasLimit unaware = course.from(40);
    course.saturated(unaware, 20, 19);
    assertThat(unaware.isProbing()).as("without a baseline").isTrue();
  }

  @Test
  void aQueueOfTheFirstWindowDoesNotBecomeTheBaseline() {
    ProbedVegasLimit algorithm = course.from(40);
    algorithm.resume(ms(20), ms(course.now));
    course.saturated(algorithm, 40, 39);
    course.saturated(algorithm, 40, 39);
    assertThat(algorithm.baselineNanos()).isEqualTo(ms(20));
    assertThat(algorithm.limit()).isLessThan(40);
  }

  @Test
  void nothingToResumeChangesNothing() {
    ProbedVegasLimit algorithm = course.from(40);
    algorithm.resume(course.from(40).baselineNanos(), ms(course.now));
    course.saturated(algorithm, 20, 19);
    assertThat(algorithm.isProbing()).isTrue();
  }
}
