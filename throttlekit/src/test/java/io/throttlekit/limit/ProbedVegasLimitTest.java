package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.dropped;
import static io.throttlekit.limit.Samples.ms;
import static io.throttlekit.limit.Samples.second;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.ProbedVegasLimit.Settings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbedVegasLimitTest {
  private static final double MILLI = 1e6;

  private final ProbedVegasCourse course = ProbedVegasCourse.of(20, 20);

  /** 1.5 times the most of 16 in flight and 3, which is more than 1 + 3 · 14. */
  @Test
  void hasRoomForBurstsWithoutAQueue() {
    ProbedVegasLimit algorithm = course.calm(4, 15);
    assertThat(algorithm.limit()).isEqualTo(28);
  }

  /** Of many requests, arrivals vary less: 201, and 3.5 · √200 behind a queue. */
  @ParameterizedTest(name = "{0} servers: {1} ± {2}")
  @CsvSource({"20, 36, 2", "200, 250, 5", "30, 50, 3"})
  void keepsAQueueOfAFewDeviationsBehindAFullBackend(int servers, int limit, int difference) {
    ProbedVegasCourse busy = ProbedVegasCourse.of(servers, 20);
    ProbedVegasLimit algorithm = busy.calm(servers, servers / 2);
    for (int i = 0; i < 25; i++) {
      busy.full(algorithm);
      if (algorithm.isProbing()) {
        busy.endMeasurement(algorithm);
      }
    }
    assertThat(algorithm.limit()).isCloseTo(limit, within(difference));
    assertThat(algorithm.baseline.nanos()).isCloseTo(20 * MILLI, within(MILLI));
  }

  @Test
  void risesByHalfAtMost() {
    ProbedVegasLimit algorithm = course.calm(4, 2);
    for (int i = 0; i < 5; i++) {
      int before = algorithm.limit();
      course.window(algorithm, 18, 0);
      assertThat(algorithm.limit()).isLessThanOrEqualTo((int) (1.5 * before + 1));
    }
    assertThat(algorithm.limit()).isGreaterThan(20);
  }

  /** A request that finds two in flight, of a limit of 40: the limit is 1.5 · 3 + 3. */
  @Test
  void fallsToWhatIsUsed() {
    ProbedVegasLimit algorithm = course.from(40);
    for (int i = 0; i < 300; i++) {
      course.window(algorithm, 3, 0);
    }
    assertThat(algorithm.limit()).isEqualTo(7);
  }

  /**
   * The invariant that keeps the limit from following its own queue: requests in service are the
   * throughput times the baseline, whatever the limit is.
   */
  @Test
  void doesNotRiseTwiceWhileLatencyDoesNotFallTowardsTheBaseline() {
    int rises = 0;
    for (int seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int servers = 3 + random.nextInt(200);
      double millis = 5 + random.nextInt(60);
      double load = 0.5 + random.nextDouble(2);
      ProbedVegasCourse any = ProbedVegasCourse.of(servers, millis);
      ProbedVegasLimit algorithm = any.calm(4 + random.nextInt(servers), servers / 2);
      double before = 1;
      int risen = 0;
      for (int window = 0; window < 120; window++) {
        int limit = algorithm.limit();
        double demanded = load * servers;
        boolean refuses = demanded > Math.min(limit, servers);
        double inFlight = refuses ? limit : demanded;
        double stretch = Math.max(1, inFlight / servers);
        any.window(algorithm, inFlight, refuses ? 100 : 0);
        if (algorithm.isProbing()) {
          any.endMeasurement(algorithm);
        }
        boolean queued = stretch > 1.05 && stretch >= before;
        risen = queued && algorithm.limit() > limit ? risen + 1 : 0;
        rises += risen;
        assertThat(risen).as("seed %s, window %s", seed, window).isLessThan(2);
        before = stretch;
      }
    }
    assertThat(rises).as("single rises, without which the test proves nothing").isPositive();
  }

  /** Three times as long, in a backend that is not full: no queue, whatever the baseline was. */
  @Test
  void aSlowerBackendIsNoQueue() {
    ProbedVegasLimit algorithm = course.calm(20, 10);
    ProbedVegasCourse slower = course.then(200, 60);
    for (int i = 0; i < 60; i++) {
      slower.full(algorithm);
      if (algorithm.isProbing()) {
        slower.endMeasurement(algorithm);
      }
    }
    assertThat(algorithm.baseline.nanos()).isCloseTo(60 * MILLI, within(MILLI));
    assertThat(algorithm.limit()).isGreaterThan(60);
  }

  @Test
  void aFasterBackendLowersTheBaselineAtOnce() {
    ProbedVegasLimit algorithm = course.calm(20, 10);
    ProbedVegasCourse faster = course.then(20, 10);
    for (int i = 0; i < 12; i++) {
      faster.window(algorithm, 10, 0);
    }
    assertThat(algorithm.baseline.nanos()).isCloseTo(10 * MILLI, within(0.5 * MILLI));
  }

  /** Half of the servers: 1 + 10 + 3.5 · √10. */
  @Test
  void followsAHalvedCapacityDown() {
    ProbedVegasLimit algorithm = course.calm(20, 10);
    for (int i = 0; i < 10; i++) {
      course.full(algorithm);
    }
    ProbedVegasCourse halved = course.then(10, 20);
    for (int i = 0; i < 15; i++) {
      halved.full(algorithm);
    }
    assertThat(algorithm.limit()).isCloseTo(22, within(2));
  }

  @Test
  void t17OnlyDropsLowerTheLimitEachWindowDownToTheMinimum() {
    ProbedVegasLimit algorithm = course.calm(200, 60);
    double baseline = algorithm.baseline.nanos();
    int before = algorithm.limit();
    while (before > 4) {
      second(algorithm, course.now, 1_000, 200, true);
      algorithm.learn(dropped(course.now + ProbedVegasCourse.WINDOW, 1_000, 200));
      course.now += ProbedVegasCourse.WINDOW;
      assertThat(algorithm.limit()).isLessThan(before);
      before = algorithm.limit();
    }
    assertThat(algorithm.limit()).isEqualTo(4);
    assertThat(algorithm.baseline.nanos()).isEqualTo(baseline);
  }

  @Test
  void oneDropInTwentyIsNotEvidenceAndOneMoreIs() {
    ProbedVegasLimit algorithm = course.calm(20, 12);
    int before = algorithm.limit();
    course.mixed(algorithm, 95, 5, 12);
    assertThat(algorithm.limit()).isGreaterThanOrEqualTo(before - 1);
    int then = algorithm.limit();
    course.mixed(algorithm, 94, 6, 12);
    assertThat(algorithm.limit()).isBetween((int) (0.9 * then) - 1, (int) (0.9 * then) + 1);
  }

  /** A fifth of the servers: 1 + 4 + 1.2 · 4. */
  @Test
  void dropsBehindAQueueLowerTheLimitAsFastAsAQueueDoes() {
    ProbedVegasLimit algorithm = course.calm(20, 22);
    int before = algorithm.limit();
    course.then(4, 20).mixed(algorithm, 94, 6, 30);
    assertThat(algorithm.limit()).isCloseTo((int) (before - 0.4 * (before - 9.8)), within(1));
  }

  /** Half of the peak is left after 69 windows: 1.5 · 30 + 3, and once more 1.5 · 22 + 3. */
  @Test
  void theRoomForABurstFades() {
    ProbedVegasCourse bursts = ProbedVegasCourse.of(200, 20);
    ProbedVegasLimit algorithm = bursts.calm(20, 20);
    bursts.complete(algorithm, bursts.now, 60);
    for (int i = 0; i < 70; i++) {
      bursts.window(algorithm, 20, 0);
    }
    assertThat(algorithm.limit()).isCloseTo(48, within(2));
    for (int i = 0; i < 70; i++) {
      bursts.window(algorithm, 20, 0);
    }
    assertThat(algorithm.limit()).isEqualTo(36);
  }

  /** Errors are no queue: a tenth, though 1 + 19 + 3.5 · √19 is much lower. */
  @Test
  void dropsWithoutAQueueLowerTheLimitByATenthAndTheRoomReturnsLater() {
    ProbedVegasCourse bursts = ProbedVegasCourse.of(200, 20);
    ProbedVegasLimit algorithm = bursts.from(20);
    for (int i = 0; i < 20; i++) {
      bursts.complete(algorithm, bursts.now, 60);
      bursts.window(algorithm, 20, 0);
    }
    int before = algorithm.limit();
    assertThat(before).isGreaterThan(70);
    bursts.mixed(algorithm, 94, 6, 20);
    int lowered = algorithm.limit();
    assertThat(lowered).isBetween((int) (0.9 * before) - 1, (int) (0.9 * before) + 1);
    bursts.window(algorithm, 20, 0);
    assertThat(algorithm.limit()).as("after drops").isLessThan(lowered);
    for (int i = 0; i < 30; i++) {
      bursts.window(algorithm, 20, 0);
    }
    assertThat(algorithm.limit()).isGreaterThan(lowered);
  }

  /** What is not dropped is shorter than without an overload. */
  @Test
  void latenciesOfAWindowOfDropsDoNotChangeTheBaseline() {
    ProbedVegasLimit algorithm = course.calm(20, 10);
    double baseline = algorithm.baseline.nanos();
    ProbedVegasCourse failing = course.then(20, 1);
    failing.mixed(algorithm, 94, 6, 5);
    failing.then(20, 20).window(algorithm, 10, 0);
    assertThat(algorithm.baseline.nanos()).isEqualTo(baseline);
  }

  /** Nothing is in flight beside a request: the limit is the least, and rises again. */
  @Test
  void requestsThatAreAloneLeaveAUsableLimit() {
    ProbedVegasLimit algorithm = course.calm(20, 1);
    assertThat(algorithm.limit()).isEqualTo(4);
    for (int i = 0; i < 5; i++) {
      course.window(algorithm, 10, 0);
    }
    assertThat(algorithm.limit()).isEqualTo(20); // 1 + 9 + 3.5 · √9
  }

  @Test
  void t16AFloodOfRefusedRequestsIsIgnored() {
    ProbedVegasLimit algorithm = course.calm(20, 9);
    course.now = 0;
    ProbedVegasLimit flooded = course.calm(20, 9);
    for (int w = 0; w < 20; w++) {
      for (int i = 1; i <= 100; i++) {
        algorithm.learn(completed(course.now + 10.0 * i, 20, 9));
        flooded.learn(completed(course.now + 10.0 * i, 20, 9));
        for (int denied = 0; denied < 10; denied++) {
          flooded.learn(completed(course.now + 10.0 * i, 0, 20));
          flooded.refused(ms(course.now + 10.0 * i), 0);
        }
      }
      course.now += 1_000;
      assertThat(flooded.limit()).isEqualTo(algorithm.limit());
      assertThat(flooded.baseline.nanos()).isEqualTo(algorithm.baseline.nanos());
    }
  }

  @Test
  void t15TheOrderOfAWindowsRequestsDoesNotMatter() {
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      course.now = 0;
      ProbedVegasLimit straight = course.calm(50, 20);
      course.now = 0;
      ProbedVegasLimit shuffled = course.calm(50, 20);
      for (int w = 0; w < 20; w++) {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < 120; i++) {
          double rtt = 18 + random.nextInt(6);
          samples.add(
              random.nextInt(30) == 0
                  ? dropped(course.now + 900, 1_000, 40)
                  : completed(course.now + 900, rtt, 1 + random.nextInt(50)));
        }
        Sample last = completed(course.now + ProbedVegasCourse.WINDOW, 20, 1);
        samples.forEach(straight::learn);
        straight.learn(last);
        Collections.shuffle(samples, random);
        samples.forEach(shuffled::learn);
        shuffled.learn(last);
        course.now += ProbedVegasCourse.WINDOW;
        assertThat(shuffled.limit()).as("seed %s", seed).isEqualTo(straight.limit());
        assertThat(straight.isProbing()).isFalse(); // a measurement uses the first requests
      }
    }
  }

  /** The limit is bounded by what is in flight, whatever starts are reported. */
  @Test
  void t14TheReportedStartOfARequestDoesNotMoveAWindow() {
    ProbedVegasLimit straight = course.calm(50, 20);
    course.now = 0;
    ProbedVegasLimit skewed = course.calm(50, 20);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 2_000; i++) {
      Sample sample = completed(course.now += 10, 15 + random.nextInt(9), 1 + random.nextInt(50));
      straight.learn(sample);
      skewed.learn(
          new Sample(
              sample.startNanos() + ms(3_600_000) * (random.nextBoolean() ? 1 : -1),
              sample.rttNanos(),
              sample.arrivedNanos(),
              sample.inFlight(),
              false,
              false));
      assertThat(skewed.baseline.nanos()).isEqualTo(straight.baseline.nanos());
      assertThat(skewed.limit()).isBetween(straight.limit() / 2, 2 * straight.limit());
    }
  }

  @Test
  void t13HoldsWithoutSamplesAndContinuesAfterwards() {
    ProbedVegasLimit algorithm = course.calm(20, 10);
    int before = algorithm.limit();
    for (int i = 0; i < 300; i++) {
      algorithm.onTick(ms(course.now += 100));
      assertThat(algorithm.limit()).isEqualTo(before);
    }
    course.window(algorithm, 10, 0);
    assertThat(algorithm.limit()).isCloseTo(before, within(1));
  }

  /** While it refuses requests, and none of those that it let pass ends. */
  @Test
  void halvesEachTwoSecondsWhileTheBackendHangs() {
    ProbedVegasLimit algorithm = course.calm(20, 15);
    int before = algorithm.limit();
    double silent = course.now;
    algorithm.refused(ms(silent + 1_990), 10);
    assertThat(algorithm.limit()).isEqualTo(before);
    algorithm.refused(ms(silent + 2_010), 10);
    assertThat(algorithm.limit()).isEqualTo(before / 2);
    algorithm.refused(ms(silent + 4_000), 10);
    assertThat(algorithm.limit()).isEqualTo(before / 2);
    for (int i = 0; i < 10; i++) {
      algorithm.refused(ms(silent + 4_030 + 2_010.0 * i), 10);
    }
    assertThat(algorithm.limit()).isEqualTo(4);
  }

  /** Its last window is never complete, and contains refusals for as long as nothing comes. */
  @Test
  void keepsItsLimitAfterAnOverloadThatStops() {
    ProbedVegasLimit algorithm = course.calm(20, 15);
    int before = algorithm.limit();
    for (int i = 1; i <= 10; i++) {
      algorithm.refused(ms(course.now + 10 * i), 10);
      course.complete(algorithm, course.now + 10 * i, before);
    }
    algorithm.refused(ms(course.now + 900), 10); // in a later message of the log
    for (int i = 2; i <= 600; i++) {
      algorithm.onTick(ms(course.now + 500.0 * i));
      assertThat(algorithm.limit()).isEqualTo(before);
    }
  }

  /** Ten latencies of half a second. */
  @Test
  void aSlowBackendHangsLater() {
    ProbedVegasCourse slow = ProbedVegasCourse.of(20, 500);
    ProbedVegasLimit algorithm = slow.calm(20, 15);
    int before = algorithm.limit();
    algorithm.refused(ms(slow.now + 4_900), 10);
    assertThat(algorithm.limit()).isEqualTo(before);
    algorithm.refused(ms(slow.now + 5_100), 10);
    assertThat(algorithm.limit()).isEqualTo(before / 2);
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    WindowSettings windows = WindowSettings.defaults();
    assertThatThrownBy(() -> new Settings(windows, 0, 1, 1, 0))
        .hasMessageContaining("0, 1, 1 and 0");
    assertThatThrownBy(() -> new Settings(windows, 1, 0, 1, 0)).hasMessageContaining("1, 0, 1 and");
    assertThatThrownBy(() -> new Settings(windows, 1, 2, 1, 0)).hasMessageContaining("1, 2, 1 and");
    assertThatThrownBy(() -> new Settings(windows, 1, 1, 1, -1)).hasMessageContaining("and -1");
    assertThatThrownBy(() -> new WindowSettings(0, 1, 1)).hasMessageContaining("minNanos is 0");
    assertThatThrownBy(() -> new WindowSettings(2, 1, 1)).hasMessageContaining("maxNanos 1");
    assertThatThrownBy(() -> new WindowSettings(1, 1, 0)).hasMessageContaining("minSamples 0");
  }
}
