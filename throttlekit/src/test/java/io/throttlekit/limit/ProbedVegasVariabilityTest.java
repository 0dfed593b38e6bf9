package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.ProbedVegasLimit.Settings;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Latency that varies by itself. */
class ProbedVegasVariabilityTest {
  /** Fewer than seconds until the first measurement, as no window counts during one. */
  private static final int WINDOWS = 25;

  private final ProbedVegasCourse course = new ProbedVegasCourse();

  /** A queue of 20: 0.35 of the excess over 6, and a fifth of that. */
  @Test
  void makesDecreasesSmaller() {
    ProbedVegasLimit calm = course.calm(40, 20);
    ProbedVegasLimit restless = course.calm(40, 20);
    vary(restless);
    for (int i = 0; i < 2; i++) { // in the first window, a burst may have been refused
      course.saturated(calm, 40, 40);
      course.saturated(restless, 40, 40);
    }
    assertThat(calm.limit()).isEqualTo(35);
    assertThat(restless.limit()).isEqualTo(39);
  }

  /** Without a queue: half of the limit, and a fifth of that. */
  @Test
  void makesIncreasesSmaller() {
    ProbedVegasLimit calm = course.calm(40, 20);
    ProbedVegasLimit restless = course.calm(40, 20);
    vary(restless);
    course.saturated(calm, 20, 40);
    course.saturated(restless, 20, 40);
    assertThat(calm.limit()).isEqualTo(60);
    assertThat(restless.limit()).isEqualTo(44);
  }

  @Test
  void isThatOfWindowsWithRefusals() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int i = 0; i < WINDOWS; i++) {
      course.saturated(algorithm, i % 2 == 0 ? 20 : 30, 40);
    }
    assertThat(algorithm.isProbing()).isFalse();
    assertRestless(algorithm, true);
  }

  /** Where the limit is not full, the load may have changed. */
  @Test
  void isNotThatOfWindowsWithoutRefusals() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int i = 0; i < WINDOWS; i++) {
      course.window(algorithm, i % 2 == 0 ? 20 : 30, 19);
    }
    assertRestless(algorithm, false);
  }

  @Test
  void isNotThatOfFewRequests() {
    Settings few =
        new Settings(
            new WindowSettings(TimeUnit.SECONDS.toNanos(1), TimeUnit.SECONDS.toNanos(30), 20),
            TimeUnit.SECONDS.toNanos(60),
            50,
            50,
            0);
    ProbedVegasLimit algorithm =
        new ProbedVegasLimit(new LimitRange(4, 500, 40), few, new SplittableRandom(7));
    fewRequests(algorithm, 20); // without refusals
    for (int i = 0; i < WINDOWS; i++) {
      algorithm.refused(ms(course.now), 5);
      fewRequests(algorithm, i % 2 == 0 ? 20 : 30);
    }
    assertThat(algorithm.isProbing()).isFalse();
    assertRestless(algorithm, false);
  }

  /** Latencies before and after drops are those of different backends. */
  @Test
  void isNotThatOfWindowsAroundDrops() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int i = 0; i < WINDOWS; i++) {
      course.saturated(algorithm, i % 2 == 0 ? 20 : 30, 40);
      course.mixed(algorithm, 60, 40);
    }
    assertThat(algorithm.isProbing()).isFalse();
    assertRestless(algorithm, false);
  }

  /** 20 in service, and 16 that may queue because slots were unused. */
  @Test
  void makesADecreaseAfterAMeasurementSmaller() {
    assertThat(measured(false).limit()).isEqualTo(36);
    assertThat(measured(true).limit()).isEqualTo(39);
  }

  /** A measurement costs about a second's throughput, and proves little. */
  @Test
  void delaysAMeasurementAfterUselessDecreases() {
    assertThat(secondsToDoubt(false)).isLessThan(20);
    assertThat(secondsToDoubt(true)).isBetween(59.0, 70.0);
  }

  private void fewRequests(ProbedVegasLimit algorithm, double rttMillis) {
    algorithm.refused(ms(course.now), 0);
    course.now += ProbedVegasCourse.WINDOW;
    for (int request = 1; request < LimitUsage.MIN_REQUESTS; request++) {
      algorithm.learn(completed(course.now + request / 10.0, rttMillis, 40));
    }
    course.now += 5;
  }

  private ProbedVegasLimit measured(boolean restless) {
    ProbedVegasLimit algorithm = course.measuring(40, 40);
    if (restless) {
      vary(algorithm);
    }
    for (int step = 0; step < 8 && algorithm.isProbing(); step++) {
      course.probed(algorithm, 20, 50);
    }
    assertThat(algorithm.baseline.nanos()).isEqualTo(20e6);
    return algorithm;
  }

  /** Returns how long after one measurement useless decreases start the next one. */
  private double secondsToDoubt(boolean restless) {
    ProbedVegasLimit algorithm = course.calm(200, 20);
    decreaseInVain(algorithm, 60, restless);
    course.probed(algorithm, 60, 50);
    assertThat(algorithm.isProbing()).isFalse();
    double measured = course.now;
    decreaseInVain(algorithm, 180, restless);
    return (course.now - measured) / 1_000;
  }

  private void decreaseInVain(ProbedVegasLimit algorithm, double rttMillis, boolean restless) {
    for (int window = 0; window < 200 && !algorithm.isProbing(); window++) {
      if (restless) {
        vary(algorithm);
      }
      course.saturated(algorithm, rttMillis, algorithm.limit());
    }
    assertThat(algorithm.isProbing()).isTrue();
  }

  private static void vary(ProbedVegasLimit algorithm) {
    for (int window = 0; window < WINDOWS; window++) {
      algorithm.variability.add(40, window % 2 == 0 ? 20e6 : 40e6);
    }
    algorithm.variability.skip();
  }

  private static void assertRestless(ProbedVegasLimit algorithm, boolean restless) {
    assertThat(algorithm.variability.damped(40, 20) > 20).isEqualTo(restless);
  }
}
