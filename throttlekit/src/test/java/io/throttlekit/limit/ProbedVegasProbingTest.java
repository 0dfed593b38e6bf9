package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The steps of a measurement, and its result if it times out. */
class ProbedVegasProbingTest {
  private final ProbedVegasCourse course = new ProbedVegasCourse();

  /** One ms per request in flight, and 20 in service. */
  @Test
  void descendsWhileThroughputStays() {
    ProbedVegasLimit algorithm =
        course.measuring(40, 40); // of a queue that was there from the beginning
    assertThat(algorithm.limit()).isEqualTo(28); // 70 % of the limit
    course.probed(algorithm, 28, 50);
    assertThat(algorithm.isProbing()).isTrue();
    assertThat(algorithm.limit()).isEqualTo(22);
    course.probed(algorithm, 22, 50);
    assertThat(algorithm.isProbing()).isTrue();
    assertThat(algorithm.limit()).isEqualTo(14); // an apparently large step
    course.probed(algorithm, 20, 50);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.baseline.nanos()).isEqualTo(20e6);
    assertThat(algorithm.limit()).isEqualTo(20 + 16); // half of the limit was unused
  }

  /** Throughput is five percent lower: servers are idle, and another step would only cost. */
  @Test
  void stopsDescendingWhenThroughputFalls() {
    ProbedVegasLimit algorithm = course.measuring(40, 40);
    assertThat(algorithm.limit()).isEqualTo(28);
    course.probed(algorithm, 28 / 0.94, 50);
    assertThat(algorithm.isProbing()).isFalse();
    ProbedVegasLimit busier = course.measuring(40, 40);
    course.probed(busier, 28 / 0.96, 50);
    assertThat(busier.isProbing()).isTrue();
  }

  /** If each step lowers throughput a little, the best of them counts. */
  @Test
  void aGradualFallOfThroughputIsDetected() {
    ProbedVegasLimit algorithm = course.measuring(40, 40);
    course.probed(algorithm, 28 / 0.97, 50);
    assertThat(algorithm.limit()).isEqualTo(22);
    course.probed(algorithm, 22 / 0.94, 50);
    assertThat(algorithm.isProbing()).isFalse();
  }

  @Test
  void throughputIsThatOfAdmittedRequestsNotOfTheLimit() {
    ProbedVegasLimit algorithm = course.calm(40, 40);
    for (int second = 0; second < 40 && !algorithm.isProbing(); second++) {
      algorithm.acknowledged(20, ms(course.now));
      course.saturated(algorithm, 40, 19);
    }
    assertThat(algorithm.limit()).isEqualTo(14); // 70 % of 20
    algorithm.acknowledged(10, ms(course.now));
    course.now += 600;
    course.probed(algorithm, 26, 50); // 10 in 26 ms are less than 20 in 40, and 14 would be more
    assertThat(algorithm.isProbing()).isFalse();
  }

  @Test
  void throughputIsThatOfTheHighestAcknowledgedLimit() {
    ProbedVegasLimit algorithm = course.measuring(40, 40);
    algorithm.acknowledged(10, ms(course.now)); // one Envoy has not acknowledged
    course.now += 600;
    algorithm.acknowledged(28, ms(course.now));
    algorithm.acknowledged(10, ms(course.now)); // still not
    course.probed(algorithm, 28, 50);
    assertThat(algorithm.isProbing()).isTrue();
  }

  /** Up to four tenths of a large limit may queue, of the one that is restored. */
  @Test
  void theAllowedQueueFollowsFromTheRequestsInService() {
    ProbedVegasLimit algorithm = course.measuring(400, 400); // one ms per request in flight
    while (algorithm.limit() > 20) {
      course.probed(algorithm, algorithm.limit(), 50);
    }
    course.probed(algorithm, 20, 50);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.baseline.nanos()).isEqualTo(200e6); // half of it
    assertThat(algorithm.limit()).isEqualTo(200 + 4 * 20); // half of the limit was unused
  }

  /** Two latencies of 8 s are more than a quarter of the timeout of a step. */
  @Test
  void withALastingQueueOnlyRequestsBegunBelowTheLimitCount() {
    Probing probing =
        new Probing(28, 4, 40 / 8e9, 8e9, false, 0, new LimitHistory(28), ProbedVegasCourse.FIFTY);
    for (int i = 0; i < 100; i++) {
      assertThat(probing.learn(completed(7_990, 8_000, 28))).isNull();
    }
    for (int i = 1; i < 50; i++) {
      assertThat(probing.learn(completed(8_000, 8_000, 28))).isNull();
    }
    assertThat(probing.learn(completed(8_000, 8_000, 28)))
        .isEqualTo(new Probing.Outcome.Measured(8e9));
  }

  /** 16 of 20 in service, and no queue: at a limit of 26, which is 20 + 6. */
  @Test
  void descendsByAFifthOfTheRequestsInService() {
    ProbedVegasLimit algorithm = course.calm(26, 20);
    for (int second = 0; second < 40 && !algorithm.isProbing(); second++) {
      course.saturated(algorithm, 26, 12); // ms, 6 of them in the queue
    }
    assertThat(algorithm.limit()).isEqualTo(16);
  }

  /** An Envoy that never acknowledges holds 15: the measurement uses the samples until then. */
  @Test
  void aStepCountsThoughTheNextTimesOut() {
    ProbedVegasLimit algorithm = course.measuring(40, 40);
    algorithm.acknowledged(28, ms(course.now));
    course.now += 600;
    course.probed(algorithm, 28, 50);
    assertThat(algorithm.limit()).isEqualTo(22);
    course.now += 30_000;
    algorithm.refused(ms(course.now), 5);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.baseline.nanos()).isEqualTo(28e6);
  }

  @Test
  void aStepDoesNotRaiseTheBaseline() {
    ProbedVegasLimit algorithm = course.calm(400, 20);
    for (int second = 0; second < 40 && !algorithm.isProbing(); second++) {
      course.saturated(algorithm, 200, 400);
    }
    int lowered = algorithm.limit();
    algorithm.acknowledged(lowered, ms(course.now));
    course.now += 600;
    course.probed(algorithm, 40, 50);
    assertThat(algorithm.limit()).isEqualTo((int) (0.8 * lowered));
    course.now += 30_000;
    algorithm.refused(ms(course.now), 5);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.baseline.nanos()).isEqualTo(20e6);
  }

  /** The next measurement is a minute later, not two. */
  @Test
  void aStepDoesNotConfirmTheBaseline() {
    ProbedVegasLimit algorithm = course.calm(400, 20);
    for (int second = 0; second < 40 && !algorithm.isProbing(); second++) {
      course.saturated(algorithm, 200, 400);
    }
    algorithm.acknowledged(algorithm.limit(), ms(course.now));
    course.now += 600;
    course.probed(algorithm, 19, 50); // the capacity of the backend has risen
    assertThat(algorithm.isProbing()).isTrue();
    course.now += 30_000;
    algorithm.refused(ms(course.now), 5);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.baseline.nanos()).isEqualTo(19.5e6);
    double ended = course.now;
    while (!algorithm.isProbing() && course.now - ended < 190_000) {
      algorithm.acknowledged(algorithm.limit(), ms(course.now));
      course.saturated(algorithm, 19.5, 10);
    }
    assertThat(course.now - ended).isBetween(60_000.0, 69_000 + 2 * ProbedVegasCourse.WINDOW);
  }
}
