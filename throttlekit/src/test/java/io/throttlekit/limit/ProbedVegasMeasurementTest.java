package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.dropped;
import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The measurement of the baseline below a lowered limit. */
class ProbedVegasMeasurementTest {
  private final ProbedVegasCourse course = new ProbedVegasCourse();

  @Test
  void threeLargeDecreasesThatAreUselessMeanASlowerBackend() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int i = 0; i < 4; i++) { // in the first window, a burst may have been refused
      assertThat(algorithm.isProbing()).isFalse();
      course.saturated(algorithm, 60, 40);
    }
    assertThat(algorithm.isProbing()).isTrue();
    int lowered = algorithm.limit();
    course.probed(algorithm, 60, 50);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.baseline.nanos()).isEqualTo(60e6);
    ProbedVegasCourse.assertRestored(algorithm, lowered);
  }

  /** The mean latency of few requests is chance. */
  @Test
  void amongFewRequestsThreeLargeDecreasesDoNotMeanASlowerBackend() {
    ProbedVegasState.Steady steady = new ProbedVegasState.Steady();
    QueueStep decrease = new QueueStep(0, true);
    for (int i = 0; i < 3; i++) {
      steady.stepped(decrease, 100, 20e6);
    }
    assertThat(steady.doubts(60, 20e6, false)).isTrue();
    assertThat(steady.doubts(60, 20e6, true)).isFalse();
    for (int i = 0; i < 2; i++) {
      steady.stepped(decrease, 100, 20e6);
    }
    assertThat(steady.doubts(80, 20e6, false)).isTrue();
    assertThat(steady.doubts(80, 20e6, true)).isFalse();
    assertThat(steady.doubts(60, 20e6, true)).isTrue();
  }

  /** Most errors of a backend may be fast. */
  @Test
  void aMeasurementKeepsHalfOfTheBaseline() {
    ProbedVegasLimit algorithm = course.measuring(40, 40);
    for (int step = 0; step < 8 && algorithm.isProbing(); step++) {
      course.probed(algorithm, 1, 50);
    }
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.baseline.nanos()).isEqualTo(20e6);
  }

  /** At a limit of 40, 40 ms instead of 28: half of both would be too high for a long time. */
  @Test
  void aMeasurementFarBelowTheBaselineReplacesIt() {
    ProbedVegasLimit algorithm = course.measuring(40, 40);
    course.probed(algorithm, 28, 50); // throughput is the same
    course.probed(algorithm, 28, 50);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.baseline.nanos()).isEqualTo(28e6);
    assertThat(algorithm.limit()).isEqualTo(40); // half of it was unused
  }

  @Test
  void decreasesThatReduceLatencyStartNoMeasurement() {
    ProbedVegasLimit algorithm = course.calm(80, 20);
    for (int second = 0; second < 20; second++) {
      course.saturated(
          algorithm, algorithm.limit(), algorithm.limit()); // one ms per request in flight
      assertThat(algorithm.isProbing()).isFalse();
    }
    assertThat(algorithm.limit()).isBetween(22, 32); // 20 in service, and a small queue
  }

  @Test
  void aMeasurementBelowTheBaselineCountsHalf() {
    ProbedVegasLimit algorithm = course.measuring(40, 40);
    course.probed(algorithm, 39, 50);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.baseline.nanos()).isEqualTo(39.5e6);
  }

  /** The doubt was that the baseline is too low. */
  @Test
  void aMeasurementAfterUselessDecreasesDoesNotLowerTheBaseline() {
    ProbedVegasLimit algorithm = course.calm(40, 40);
    for (int i = 0; i < 8 && !algorithm.isProbing(); i++) {
      course.saturated(algorithm, 60, 40);
    }
    assertThat(algorithm.isProbing()).isTrue();
    course.probed(algorithm, 39, 50);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.baseline.nanos()).isEqualTo(40e6);
  }

  @Test
  void aMeasurementUsesOnlyRequestsThatEndAfterTheOlderQueue() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int i = 0; i < 5 && !algorithm.isProbing(); i++) {
      course.saturated(algorithm, 60, 40);
    }
    for (int i = 0; i < 500; i++) {
      algorithm.learn(completed(course.now + 119, 60, 40));
    }
    assertThat(algorithm.isProbing()).isTrue();
    for (int i = 0; i < 49; i++) {
      algorithm.learn(completed(course.now + 120, 60, 20));
    }
    assertThat(algorithm.isProbing()).isTrue();
    algorithm.learn(completed(course.now + 120, 60, 20));
    assertThat(algorithm.isProbing()).isFalse();
  }

  @Test
  void aMeasurementIgnoresALatencyOfZero() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int i = 0; i < 5 && !algorithm.isProbing(); i++) {
      course.saturated(algorithm, 60, 40);
    }
    course.probed(algorithm, 0, 200);
    assertThat(algorithm.isProbing()).isTrue();
    course.probed(algorithm, 60, 50);
    assertThat(algorithm.baseline.nanos()).isEqualTo(60e6);
  }

  @Test
  void aMeasurementWaitsForTheAcknowledgementAndTheMargin() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int i = 0; i < 5 && !algorithm.isProbing(); i++) {
      algorithm.acknowledged(algorithm.limit(), ms(course.now));
      course.saturated(algorithm, 60, 40);
    }
    double lowered = course.now;
    course.probed(algorithm, 60, 200);
    assertThat(algorithm.isProbing()).isTrue();
    algorithm.acknowledged(algorithm.limit() + 1, ms(lowered)); // not all of them yet
    course.probed(algorithm, 60, 200);
    assertThat(algorithm.isProbing()).isTrue();
    algorithm.acknowledged(algorithm.limit(), ms(course.now));
    for (int i = 0; i < 200; i++) {
      algorithm.learn(completed(course.now + 719, 60, 20));
    }
    assertThat(algorithm.isProbing()).isTrue();
    for (int i = 0; i < 50; i++) {
      algorithm.learn(completed(course.now + 720, 60, 20));
    }
    assertThat(algorithm.isProbing()).isFalse();
  }

  @Test
  void samplesOfTheLoweredLimitAreIgnoredOnceItIsRestored() {
    ProbedVegasLimit algorithm = course.acknowledged();
    int restored = algorithm.limit();
    course.window(algorithm, 10, 40); // the limiter has not acknowledged the restored limit
    assertThat(algorithm.limit()).isEqualTo(restored);
    algorithm.acknowledged(algorithm.limit(), ms(course.now));
    for (int i = 0; i < 500; i++) {
      algorithm.learn(completed(course.now + 9 + i * 4, i * 4 + 10, 40)); // began 1 ms before
    }
    assertThat(algorithm.limit()).isEqualTo(restored);
    course.window(algorithm, 60, 40);
    course.window(algorithm, 60, 40);
    assertThat(algorithm.limit()).isGreaterThan(restored);
  }

  @Test
  void aMissingAcknowledgementIsAwaitedForHalfAnIntervalOnly() {
    ProbedVegasLimit algorithm = course.acknowledged();
    int restored = algorithm.limit();
    double measured = course.now;
    while (algorithm.limit() == restored && course.now - measured < 100_000) {
      course.mixed(algorithm, 94, 6); // drops must not be ignored for longer
    }
    assertThat(course.now - measured).isBetween(30_000.0, 30_000 + 7 * ProbedVegasCourse.WINDOW);
  }

  @Test
  void aMeasurementWithoutSamplesTimesOutOnATick() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int i = 0; i < 5 && !algorithm.isProbing(); i++) {
      course.saturated(algorithm, 60, 40);
    }
    int lowered = algorithm.limit();
    assertThat(algorithm.isProbing()).isTrue();
    algorithm.onTick(ms(course.now + 29_000));
    assertThat(algorithm.limit()).isEqualTo(lowered);
    algorithm.onTick(ms(course.now + 30_000));
    assertThat(algorithm.isProbing()).isFalse();
    ProbedVegasCourse.assertRestored(algorithm, lowered);
  }

  /**
   * Limiters do not acknowledge again if the limit is the minimum before and during a measurement.
   */
  @Test
  void aMinimumLimitIsMeasuredAtOnceAndRises() {
    ProbedVegasLimit algorithm =
        new ProbedVegasLimit(
            new LimitRange(4, 500, 4), ProbedVegasCourse.FIFTY, new SplittableRandom(7));
    algorithm.acknowledged(4, 0);
    for (int i = 0; i < 10; i++) {
      course.window(algorithm, 20, 1);
    }
    int obeyed = 4;
    for (int second = 0; second < 120; second++) {
      course.saturated(algorithm, 40, algorithm.limit()); // a slower backend, and no queue
      if (algorithm.limit() != obeyed) {
        obeyed = algorithm.limit();
        algorithm.acknowledged(obeyed, ms(course.now));
      }
    }
    assertThat(algorithm.baseline.nanos()).isEqualTo(40e6);
    assertThat(algorithm.limit()).isGreaterThan(20);
  }

  /**
   * A limiter that does not acknowledge would keep the limit halved half of the time for the
   * others.
   */
  @Test
  void noMeasurementStartsBeforeThePreviousIsAcknowledged() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    algorithm.acknowledged(algorithm.limit(), ms(course.now));
    int measured = 0;
    for (int second = 0; second < 600; second++) {
      boolean before = algorithm.isProbing();
      course.saturated(algorithm, 60, algorithm.limit());
      measured += !before && algorithm.isProbing() ? 1 : 0;
    }
    assertThat(measured).isEqualTo(1);
  }

  @Test
  void aMeasurementWithoutAcknowledgementTimesOut() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int i = 0; i < 5 && !algorithm.isProbing(); i++) {
      algorithm.acknowledged(algorithm.limit(), ms(course.now));
      course.saturated(algorithm, 60, 40);
    }
    int lowered = algorithm.limit();
    algorithm.learn(completed(course.now + 29_999, 10, 20));
    assertThat(algorithm.limit()).isEqualTo(lowered);
    algorithm.learn(completed(course.now + 30_000, 10, 20));
    assertThat(algorithm.isProbing()).isFalse();
    ProbedVegasCourse.assertRestored(algorithm, lowered);
    assertThat(algorithm.baseline.nanos()).isEqualTo(20e6);
  }

  @Test
  void dropsDuringAMeasurementKeepTheLimitLow() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int i = 0; i < 5 && !algorithm.isProbing(); i++) {
      course.saturated(algorithm, 60, 40);
    }
    int lowered = algorithm.limit();
    for (int i = 0; i < 50; i++) {
      algorithm.learn(dropped(course.now + 1_000, 1_000, lowered));
    }
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.limit()).isBetween(lowered - 2, lowered - 1);
    assertThat(algorithm.baseline.nanos()).isEqualTo(20e6);
  }

  /** The second measurement confirms the baseline of the first within a tenth, or does not. */
  @ParameterizedTest
  @CsvSource({"20, 120000, 138000", "22, 120000, 138000", "23, 60000, 69000", "17, 60000, 69000"})
  void measuresAgainAMinuteOrTwoLaterWhileSaturated(double found, double least, double most) {
    for (int seed = 0; seed < 30; seed++) {
      course.now = 0;
      ProbedVegasLimit algorithm =
          new ProbedVegasLimit(
              new LimitRange(4, 500, 40), ProbedVegasCourse.FIFTY, new SplittableRandom(seed));
      course.saturated(algorithm, 20, 10); // the first window: its latency may include a queue
      assertThat(algorithm.isProbing()).isTrue();
      course.probed(algorithm, found, 50);
      double measured = course.now;
      while (!algorithm.isProbing() && course.now - measured < 190_000) {
        course.saturated(algorithm, found, 10);
      }
      assertThat(course.now - measured)
          .as("seed %s", seed)
          .isBetween(least, most + 2 * ProbedVegasCourse.WINDOW);
    }
  }
}
