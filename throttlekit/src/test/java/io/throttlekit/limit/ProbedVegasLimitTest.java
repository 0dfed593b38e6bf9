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
import org.junit.jupiter.params.provider.ValueSource;

class ProbedVegasLimitTest {
  private final ProbedVegasCourse course = new ProbedVegasCourse();

  @Test
  void growsByHalfUpToTwiceTheMostInFlightWithoutAQueueAndWithHalfInUse() {
    ProbedVegasLimit algorithm = course.from(12);
    course.window(algorithm, 20, 5);
    assertThat(algorithm.limit()).isEqualTo(12);
    course.window(algorithm, 20, 8);
    assertThat(algorithm.limit()).isEqualTo(16);
    course.window(algorithm, 20, 25);
    assertThat(algorithm.limit()).isEqualTo(24);
    course.window(algorithm, 20, 25);
    assertThat(algorithm.limit()).isEqualTo(36);
    course.window(algorithm, 20, 25);
    assertThat(algorithm.limit()).isEqualTo(50);
  }

  /** From 20 to 320: the initial limit is a guess. */
  @Test
  void doublesUntilItsFirstDecrease() {
    ProbedVegasLimit algorithm = course.calm(20, 20);
    for (int limit = 20; limit < 320; limit *= 2) {
      assertThat(algorithm.limit()).isEqualTo(limit);
      algorithm.refused(ms(course.now), 50);
      course.window(algorithm, 20, limit);
    }
    course.saturated(algorithm, 60, 320);
    int lowered = algorithm.limit();
    assertThat(lowered).isLessThan(320);
    algorithm.refused(ms(course.now), 50);
    course.window(algorithm, 20, lowered);
    assertThat(algorithm.limit()).isBetween((int) (1.49 * lowered), (int) (1.51 * lowered));
  }

  @Test
  void dropsEndTheDoubling() {
    ProbedVegasLimit algorithm = course.calm(20, 20);
    course.mixed(algorithm, 50, 10);
    assertThat(algorithm.limit()).isEqualTo(18);
    algorithm.refused(ms(course.now), 50);
    course.window(algorithm, 20, 18);
    assertThat(algorithm.limit()).isEqualTo(27);
  }

  /** A limiter applies it only after the next windows. */
  @Test
  void doesNotGrowAgainBeforeSamplesOfItsLastIncrease() {
    ProbedVegasLimit algorithm = course.from(20);
    algorithm.acknowledged(algorithm.limit(), ms(0));
    course.window(algorithm, 20, 20);
    course.window(algorithm, 20, 20);
    course.window(algorithm, 20, 20);
    assertThat(algorithm.limit()).isEqualTo(30);
    algorithm.acknowledged(algorithm.limit(), ms(course.now));
    course.window(algorithm, 20, 20);
    assertThat(algorithm.limit()).isEqualTo(40); // twice the most in flight
  }

  /** One limiter never acknowledges: it keeps 10 of 200, and the others have the rest. */
  @Test
  void growsByTheAcknowledgedLimitDespiteASilentEnvoy() {
    ProbedVegasLimit algorithm = course.from(20);
    algorithm.acknowledged(20, ms(0));
    for (int second = 0; second < 60; second++) {
      course.window(algorithm, 20, algorithm.limit());
      algorithm.acknowledged(algorithm.limit() - 5, ms(course.now));
    }
    assertThat(algorithm.limit()).isGreaterThan(60);
  }

  /** A baseline of 18 ms by chance: at 40, 4 seem to queue. */
  @Test
  void growsWithConstantLatencyDespiteATooLowBaseline() {
    ProbedVegasLimit algorithm = course.calm(24, 18);
    for (int second = 0; second < 25; second++) {
      algorithm.refused(ms(course.now), 50);
      course.window(algorithm, 20, algorithm.limit());
      assertThat(algorithm.isProbing()).isFalse();
    }
    assertThat(algorithm.baseline.nanos()).isEqualTo(20e6);
    assertThat(algorithm.limit()).isGreaterThan(80);
  }

  /** Near the capacity bursts are refused, although the load does not rise. */
  @Test
  void constantLatencyWithFewRefusalsKeepsTheBaseline() {
    ProbedVegasLimit algorithm = course.calm(24, 18);
    for (int second = 0; second < 25; second++) {
      algorithm.refused(ms(course.now), 2);
      course.window(algorithm, 20, algorithm.limit());
    }
    assertThat(algorithm.baseline.nanos()).isEqualTo(18e6);
    assertThat(algorithm.limit()).isLessThanOrEqualTo(45);
  }

  /** No baseline is exact to a few hundredths. */
  @Test
  void aTenthOfALargeLimitMayQueue() {
    ProbedVegasLimit algorithm = course.calm(200, 20);
    for (int second = 0; second < 10; second++) {
      course.saturated(algorithm, 20 / (1 - 15 / 200.0), 200);
    }
    assertThat(algorithm.limit()).isEqualTo(200);
  }

  /** After a tenth of the capacity all of it is restored, and 18 of 20 servers are idle. */
  @ParameterizedTest
  @ValueSource(doubles = {19.1, 19.3, 19.5, 19.7, 19.9})
  void aFractionOfARequestIsNoQueue(double rttMillis) {
    ProbedVegasLimit algorithm = course.measuring(30, 30);
    course.probed(algorithm, 20, 50);
    course.probed(algorithm, rttMillis, 50);
    assertThat(algorithm.baseline.nanos()).isEqualTo(rttMillis * 1e6);
    for (int second = 0; second < 20; second++) {
      course.saturated(algorithm, 10.0 * algorithm.limit(), algorithm.limit()); // 2 in service
    }
    assertThat(algorithm.limit()).isLessThanOrEqualTo(6);
    for (int second = 0; second < 30; second++) {
      course.saturated(algorithm, 1.07 * rttMillis, algorithm.limit());
    }
    assertThat(algorithm.limit()).isGreaterThan(12);
  }

  @Test
  void doesNotDivergeFromLimitersThatStopAcknowledging() {
    ProbedVegasLimit algorithm = course.from(20);
    algorithm.acknowledged(12, 0);
    for (int second = 0; second < 120; second++) {
      course.window(algorithm, 20, algorithm.limit()); // refusals show that all of it is in use
    }
    assertThat(algorithm.limit()).isBetween(20, 2 * 12 + 6);
  }

  /** One ms per request in flight, and 20 in service. */
  @Test
  void doesNotDivergeWhenSilentLimitersAcknowledgeAgain() {
    ProbedVegasLimit algorithm = course.from(20);
    for (int second = 0; second < 12; second++) {
      algorithm.acknowledged(algorithm.limit() / 2, ms(course.now));
      course.window(algorithm, 20, algorithm.limit());
    }
    assertThat(algorithm.limit()).isGreaterThan(30);
    for (int second = 0; second < 15; second++) {
      algorithm.acknowledged(algorithm.limit(), ms(course.now));
      course.saturated(algorithm, Math.max(20, algorithm.limit()), algorithm.limit());
      assertThat(algorithm.limit()).isLessThan(60);
    }
    assertThat(algorithm.limit()).isBetween(20, 32);
  }

  /** 40 ms at a limit of 40 is 20 too many: the correct limit is 26. */
  @Test
  void doesNotFallAgainForRequestsBeforeItsLastDecrease() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    algorithm.acknowledged(algorithm.limit(), ms(course.now));
    for (int second = 0; second < 20; second++) {
      course.saturated(algorithm, 40, 40); // all of them below the old limit
      assertThat(algorithm.isProbing()).isFalse();
    }
    assertThat(algorithm.limit()).isBetween(20, 26);
  }

  @Test
  void holdsWithASmallQueueAndFallsWithALargeOne() {
    ProbedVegasLimit algorithm = course.from(40);
    course.window(algorithm, 20, 19);
    course.window(
        algorithm, 24, 19); // baseline (20 + 24) / 2, queue ⌈40 · 2/24⌉ = 4, alpha 4, beta 6
    assertThat(algorithm.baseline.nanos()).isEqualTo(22e6);
    assertThat(algorithm.limit()).isEqualTo(40);
    course.saturated(algorithm, 44, 40); // a burst may have been refused
    assertThat(algorithm.limit()).isEqualTo(40);
    course.saturated(algorithm, 44, 40); // queue 20: 0.35 of the excess over 6
    assertThat(algorithm.baseline.nanos()).isEqualTo(22e6);
    assertThat(algorithm.limit()).isEqualTo(35);
  }

  @Test
  void theBaselineFollowsDownFastAndUpSlowlyAndHoldsWhileSaturated() {
    ProbedVegasLimit algorithm = course.calm(20, 20);
    course.window(algorithm, 10, 1);
    assertThat(algorithm.baseline.nanos()).isEqualTo(18e6);
    course.window(algorithm, 18 + 6.1, 1);
    assertThat(algorithm.baseline.nanos()).isCloseTo(18.2e6, within(1.0));
    course.saturated(algorithm, 100, 1);
    assertThat(algorithm.baseline.nanos()).isCloseTo(18.2e6, within(1.0));
  }

  @Test
  void oneRefusedIn200IsNotSaturationAndOneMoreIs() {
    ProbedVegasLimit algorithm = course.calm(20, 20);
    algorithm.refused(ms(course.now + 1), 0);
    for (int w = 0; w < 60; w++) {
      for (int i = 1; i <= 199; i++) {
        algorithm.learn(completed(course.now + 5.0 * i, 20, 1));
      }
      algorithm.refused(ms(course.now + 1_000), 1);
      algorithm.learn(completed(course.now + ProbedVegasCourse.WINDOW, 20, 1));
      course.now += ProbedVegasCourse.WINDOW;
      assertThat(algorithm.isProbing()).isFalse();
    }
    double calm = course.now;
    while (!algorithm.isProbing()
        && course.now - calm < 90_000) { // half an interval after the calm ended
      algorithm.refused(ms(course.now), 1);
      course.window(algorithm, 20, 1);
    }
    assertThat(course.now - calm).isBetween(30_000.0, 30_000 + ProbedVegasCourse.WINDOW);
  }

  @Test
  void isAtMostFiveTimesTheMaximumInFlight() {
    ProbedVegasLimit algorithm = course.from(40);
    course.window(algorithm, 20, 3);
    assertThat(algorithm.limit()).isEqualTo(39);
    for (int i = 0; i < 40; i++) {
      course.window(algorithm, 20, 3);
    }
    assertThat(algorithm.limit()).isEqualTo(15);
  }

  @Test
  void t17OnlyDropsLowerTheLimitEachWindowDownToTheMinimum() {
    ProbedVegasLimit algorithm = course.calm(200, 20);
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
    ProbedVegasLimit algorithm = course.calm(100, 20);
    course.mixed(algorithm, 95, 5);
    assertThat(algorithm.limit()).isEqualTo(100);
    course.mixed(algorithm, 94, 6);
    assertThat(algorithm.limit()).isEqualTo(90);
  }

  @Test
  void t16AFloodOfRefusalsIsIgnored() {
    ProbedVegasLimit algorithm = course.calm(20, 20);
    ProbedVegasLimit flooded = course.calm(20, 20);
    for (int w = 0; w < 20; w++) {
      for (int i = 1; i <= 100; i++) {
        algorithm.learn(completed(course.now + 10.0 * i, 20, 9));
        flooded.learn(completed(course.now + 10.0 * i, 20, 9));
        for (int denied = 0; denied < 10; denied++) {
          flooded.learn(completed(course.now + 10.0 * i, 0, 20));
          flooded.refused(ms(course.now + 10.0 * i), 1);
        }
      }
      course.now += 1_000;
      assertThat(flooded.limit()).isEqualTo(algorithm.limit()).isEqualTo(20);
      assertThat(flooded.baseline.nanos()).isEqualTo(algorithm.baseline.nanos()).isEqualTo(20e6);
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
      assertThat(skewed.limit()).isEqualTo(straight.limit());
    }
  }

  @Test
  void t13HoldsWithoutSamplesAndContinuesAfterwards() {
    ProbedVegasLimit algorithm = course.calm(50, 20);
    course.window(algorithm, 20, 24);
    int before = algorithm.limit();
    for (int i = 0; i < 300; i++) {
      algorithm.refused(ms(course.now += 100), 10);
      assertThat(algorithm.limit()).isEqualTo(before);
    }
    for (int i = 0; i < 50; i++) {
      algorithm.learn(completed(course.now + 1 + i, 20, 24));
    }
    assertThat(algorithm.isProbing()).isTrue(); // the window had refusals, and the calm is 30 s ago
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
