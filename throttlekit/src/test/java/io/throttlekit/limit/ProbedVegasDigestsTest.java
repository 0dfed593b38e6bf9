package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** Samples that are made of digests, whose single requests say nothing. */
class ProbedVegasDigestsTest {
  private static final double MILLI = 1e6;

  /** Latency rises with each request in flight as behind 20 servers of 20 ms. */
  private static final RequestStatistics QUEUE = new RequestStatistics(1_000_000, 100_000, 1_000);

  private static final RequestStatistics NO_QUEUE = new RequestStatistics(0, 50_000, 1_000);

  private final ProbedVegasCourse course = ProbedVegasCourse.of(20, 20);

  @Test
  void windowsWithoutRefusalsConfirmTheBaselineAndLetItRise() {
    ProbedVegasLimit algorithm = calm();
    ProbedVegasCourse longer = course.then(20, 21);
    for (int i = 0; i < 60; i++) {
      algorithm.learn(NO_QUEUE, 400);
      longer.window(algorithm, 10, 0);
    }
    assertThat(algorithm.baseline.nanos()).isCloseTo(21 * MILLI, within(0.1 * MILLI));
  }

  /** Whether latency responds, nodes see of few requests: it is too uncertain for a full limit. */
  @Test
  void aSlowerBackendIsMeasured() {
    ProbedVegasLimit algorithm = calm();
    ProbedVegasCourse slower = course.then(20, 60);
    for (int i = 0; i < 30 && !algorithm.isProbing(); i++) {
      assertThat(algorithm.baseline.nanos()).isCloseTo(20 * MILLI, within(MILLI));
      algorithm.learn(NO_QUEUE, 400);
      slower.full(algorithm);
    }
    assertThat(algorithm.isProbing()).isTrue();
    slower.endMeasurement(algorithm);
    assertThat(algorithm.baseline.nanos()).isCloseTo(60 * MILLI, within(MILLI));
  }

  /** Whatever the nodes' requests show: 1 + 20 + 3.5 · √20. */
  @Test
  void whatExceedsTheRequestsInServiceAtAFullLimitIsAQueue() {
    ProbedVegasCourse large = ProbedVegasCourse.of(100, 20);
    ProbedVegasLimit algorithm = calm(large, 60);
    assertThat(algorithm.limit()).isGreaterThan(90);
    ProbedVegasCourse small = large.then(20, 20);
    for (int i = 0; i < 14; i++) {
      algorithm.learn(NO_QUEUE, 400);
      small.full(algorithm);
    }
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.limit()).isCloseTo(37, within(3));
  }

  /** Twice as long and twice as many: 1.5 · 22 + 3. */
  @Test
  void withoutRefusalsALongerLatencyThatDoesNotFollowIsNoQueue() {
    ProbedVegasLimit algorithm = calm();
    ProbedVegasCourse slower = course.then(100, 40);
    for (int i = 0; i < 4; i++) {
      algorithm.learn(NO_QUEUE, 400);
      slower.window(algorithm, 20, 0);
    }
    assertThat(algorithm.limit()).isEqualTo(36);
  }

  @Test
  void aQueueIsMeasuredOnlyAfterHalfAnInterval() {
    ProbedVegasLimit algorithm = calm();
    double calm = course.now;
    while (!algorithm.isProbing() && course.now - calm < 90_000) {
      algorithm.learn(QUEUE, 400);
      course.full(algorithm);
    }
    assertThat(course.now - calm).isBetween(30_000.0, 34_500 + 2 * ProbedVegasCourse.WINDOW);
  }

  /** Batches of nine: 1 + 20 + 3.5 · √(20 · 9). */
  @Test
  void theDispersionOfTheNodesLengthensTheQueue() {
    ProbedVegasLimit algorithm = calm();
    for (int i = 0; i < 25; i++) {
      algorithm.learn(new RequestStatistics(1_000_000, 100_000, 9_000), 4_000);
      course.full(algorithm);
    }
    assertThat(algorithm.limit()).isCloseTo(68, within(6));
  }

  /**
   * For the bursts of one digest the limit rises, until three in a second have come for a while.
   */
  @Test
  void aDigestWithAbsurdNumbersIsForgotten() {
    ProbedVegasLimit algorithm = calm();
    algorithm.learn(new RequestStatistics(0, 0, Long.MAX_VALUE), 1L << 40);
    for (int i = 0; i < 300; i++) {
      algorithm.learn(new RequestStatistics(1_000_000, 100_000, 1_000), 400);
    }
    for (int i = 0; i < 25; i++) {
      course.full(algorithm);
    }
    assertThat(algorithm.limit()).isCloseTo(38, within(6));
  }

  private ProbedVegasLimit calm() {
    return calm(course, 10);
  }

  private static ProbedVegasLimit calm(ProbedVegasCourse course, int inFlight) {
    ProbedVegasLimit algorithm = course.from(20);
    for (int i = 0; i < 20; i++) {
      algorithm.learn(RequestStatistics.NONE, 400);
      course.window(algorithm, inFlight, 0);
    }
    return algorithm;
  }
}
