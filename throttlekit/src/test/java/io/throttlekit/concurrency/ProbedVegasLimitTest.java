package io.throttlekit.concurrency;

import static io.throttlekit.concurrency.Samples.completed;
import static io.throttlekit.concurrency.Samples.dropped;
import static io.throttlekit.concurrency.Samples.ms;
import static io.throttlekit.concurrency.Samples.second;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.concurrency.ProbedVegasLimit.Settings;
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
  void growsByAThirdUpToSixWhileThereIsNoQueueAndHalfIsInUse() {
    ProbedVegasLimit law = course.from(12);
    course.window(law, 20, 5);
    assertThat(law.ceiling()).isEqualTo(12);
    course.window(law, 20, 6);
    assertThat(law.ceiling()).isEqualTo(16);
    course.window(law, 20, 25);
    assertThat(law.ceiling()).isEqualTo(20); // one of the requests began before the increase
    course.window(law, 20, 25);
    assertThat(law.ceiling()).isEqualTo(25);
  }

  /** A limiter applies it only after the next windows. */
  @Test
  void doesNotGrowAgainBeforeItHearsOfRequestsThatItsGrowthLetIn() {
    ProbedVegasLimit law = course.from(20);
    law.inForce(law.ceiling(), ms(0));
    course.window(law, 20, 20);
    course.window(law, 20, 20);
    course.window(law, 20, 20);
    assertThat(law.ceiling()).isEqualTo(26);
    law.inForce(law.ceiling(), ms(course.now));
    course.window(law, 20, 20);
    assertThat(law.ceiling()).isEqualTo(31); // one of them began before
  }

  /** One limiter never acknowledges: it keeps 10 of 200, and the others have the rest. */
  @Test
  void growsByWhatOthersObeyWhereOneIsSilent() {
    ProbedVegasLimit law = course.from(20);
    law.inForce(20, ms(0));
    for (int second = 0; second < 60; second++) {
      course.window(law, 20, law.ceiling());
      law.inForce(law.ceiling() - 5, ms(course.now));
    }
    assertThat(law.ceiling()).isGreaterThan(60);
  }

  /** A baseline of 18 ms by chance: at 40, 4 seem to queue. */
  @Test
  void growsWhileLatencyDoesNotThoughTheBaselineIsTooLow() {
    ProbedVegasLimit law = course.calm(24, 18);
    for (int second = 0; second < 25; second++) {
      law.refused(ms(course.now), 50);
      course.window(law, 20, law.ceiling());
      assertThat(law.measuring()).isFalse();
    }
    assertThat(law.baselineNanos()).isEqualTo(20e6);
    assertThat(law.ceiling()).isGreaterThan(80);
  }

  /** Near the capacity bursts are refused, although the load does not rise. */
  @Test
  void latencyThatStaysWhileFewAreRefusedTellsNothing() {
    ProbedVegasLimit law = course.calm(24, 18);
    for (int second = 0; second < 25; second++) {
      law.refused(ms(course.now), 2);
      course.window(law, 20, law.ceiling());
    }
    assertThat(law.baselineNanos()).isEqualTo(18e6);
    assertThat(law.ceiling()).isLessThanOrEqualTo(45);
  }

  /** No baseline is exact to a few hundredths. */
  @Test
  void aTenthOfALargeCeilingMayWait() {
    ProbedVegasLimit law = course.calm(200, 20);
    for (int second = 0; second < 10; second++) {
      course.saturated(law, 20 / (1 - 15 / 200.0), 200);
    }
    assertThat(law.ceiling()).isEqualTo(200);
  }

  /** After a tenth of the capacity all of it is restored, and 18 of 20 servers are idle. */
  @ParameterizedTest
  @ValueSource(doubles = {19.1, 19.3, 19.5, 19.7, 19.9})
  void aPartOfARequestThatNoGateLetsInIsNoQueue(double rttMillis) {
    ProbedVegasLimit law = course.measuring(30, 30);
    course.probed(law, 20, 50);
    course.probed(law, rttMillis, 50);
    assertThat(law.baselineNanos()).isEqualTo(rttMillis * 1e6);
    for (int second = 0; second < 20; second++) {
      course.saturated(law, 10.0 * law.ceiling(), law.ceiling()); // 2 in service
    }
    assertThat(law.ceiling()).isLessThanOrEqualTo(6);
    for (int second = 0; second < 30; second++) {
      course.saturated(law, 1.07 * rttMillis, law.ceiling());
    }
    assertThat(law.ceiling()).isGreaterThan(12);
  }

  @Test
  void doesNotRunAwayFromGatesThatStandStill() {
    ProbedVegasLimit law = course.from(20);
    law.inForce(12, 0);
    for (int second = 0; second < 120; second++) {
      course.window(law, 20, law.ceiling()); // refusals show that all of it is in use
    }
    assertThat(law.ceiling()).isBetween(20, 2 * 12 + 6);
  }

  /** One ms per request in flight, and 20 in service. */
  @Test
  void doesNotRunAwayWhenThoseObeyAgainWhoWereSilent() {
    ProbedVegasLimit law = course.from(20);
    for (int second = 0; second < 12; second++) {
      law.inForce(law.ceiling() / 2, ms(course.now));
      course.window(law, 20, law.ceiling());
    }
    assertThat(law.ceiling()).isGreaterThan(30);
    for (int second = 0; second < 15; second++) {
      law.inForce(law.ceiling(), ms(course.now));
      course.saturated(law, Math.max(20, law.ceiling()), law.ceiling());
      assertThat(law.ceiling()).isLessThan(60);
    }
    assertThat(law.ceiling()).isBetween(20, 32);
  }

  /** 40 ms at a limit of 40 is 20 too many: the correct limit is 26. */
  @Test
  void doesNotFallFurtherThanIsNeededWhileItHearsOfRequestsBeforeItsFall() {
    ProbedVegasLimit law = course.calm(40, 20);
    law.inForce(law.ceiling(), ms(course.now));
    for (int second = 0; second < 20; second++) {
      course.saturated(law, 40, 40); // all of them below the old limit
      assertThat(law.measuring()).isFalse();
    }
    assertThat(law.ceiling()).isBetween(25, 26);
  }

  @Test
  void standsWithASmallQueueAndFallsWithALargeOne() {
    ProbedVegasLimit law = course.from(40);
    course.window(law, 20, 19);
    course.window(law, 24, 20); // baseline (20 + 24) / 2, queue ⌈40 · 2/24⌉ = 4, alpha 4, beta 6
    assertThat(law.baselineNanos()).isEqualTo(22e6);
    assertThat(law.ceiling()).isEqualTo(40);
    course.saturated(law, 44, 40); // queue 20: a quarter of the excess over 6
    assertThat(law.baselineNanos()).isEqualTo(22e6);
    assertThat(law.ceiling()).isEqualTo(36);
  }

  @Test
  void theBaselineFollowsDownAFifthAndUpSlowlyAndStandsWhileSaturated() {
    ProbedVegasLimit law = course.calm(20, 20);
    course.window(law, 10, 1);
    assertThat(law.baselineNanos()).isEqualTo(18e6);
    course.window(law, 18 + 6.1, 1);
    assertThat(law.baselineNanos()).isCloseTo(18.2e6, within(1.0));
    course.saturated(law, 100, 1);
    assertThat(law.baselineNanos()).isCloseTo(18.2e6, within(1.0));
  }

  @Test
  void oneRefusedIn200IsNotSaturationAndOneMoreIs() {
    ProbedVegasLimit law = course.calm(20, 20);
    law.refused(ms(course.now + 1), 0);
    for (int w = 0; w < 60; w++) {
      for (int i = 1; i <= 199; i++) {
        law.learn(completed(course.now + 5.0 * i, 20, 1));
      }
      law.refused(ms(course.now + 1_000), 1);
      law.learn(completed(course.now + ProbedVegasCourse.WINDOW, 20, 1));
      course.now += ProbedVegasCourse.WINDOW;
      assertThat(law.measuring()).isFalse();
    }
    double calm = course.now;
    while (!law.measuring()
        && course.now - calm < 90_000) { // half an interval after the calm ended
      law.refused(ms(course.now), 1);
      course.window(law, 20, 1);
    }
    assertThat(course.now - calm).isBetween(30_000.0, 30_000 + ProbedVegasCourse.WINDOW);
  }

  @Test
  void neverMoreThanFiveTimesWhatWasInFlight() {
    ProbedVegasLimit law = course.from(40);
    course.window(law, 20, 3);
    assertThat(law.ceiling()).isEqualTo(39);
    for (int i = 0; i < 40; i++) {
      course.window(law, 20, 3);
    }
    assertThat(law.ceiling()).isEqualTo(15);
  }

  @Test
  void t17AllRequestsGivenUpLowerTheCeilingEachWindowDownToTheLeast() {
    ProbedVegasLimit law = course.calm(200, 20);
    double baseline = law.baselineNanos();
    int before = law.ceiling();
    while (before > 4) {
      second(law, course.now, 1_000, 200, true);
      law.learn(dropped(course.now + ProbedVegasCourse.WINDOW, 1_000, 200));
      course.now += ProbedVegasCourse.WINDOW;
      assertThat(law.ceiling()).isLessThan(before);
      before = law.ceiling();
    }
    assertThat(law.ceiling()).isEqualTo(4);
    assertThat(law.baselineNanos()).isEqualTo(baseline);
  }

  @Test
  void oneGivenUpInTwentyIsNotEvidenceAndOneMoreIs() {
    ProbedVegasLimit law = course.calm(100, 20);
    course.mixed(law, 95, 5);
    assertThat(law.ceiling()).isEqualTo(100);
    course.mixed(law, 94, 6);
    assertThat(law.ceiling()).isEqualTo(90);
  }

  @Test
  void t16AFloodOfRefusalsMovesNeitherBaselineNorCeiling() {
    ProbedVegasLimit law = course.calm(20, 20);
    ProbedVegasLimit flooded = course.calm(20, 20);
    for (int w = 0; w < 20; w++) {
      for (int i = 1; i <= 100; i++) {
        law.learn(completed(course.now + 10.0 * i, 20, 9));
        flooded.learn(completed(course.now + 10.0 * i, 20, 9));
        for (int denied = 0; denied < 10; denied++) {
          flooded.learn(completed(course.now + 10.0 * i, 0, 20));
          flooded.refused(ms(course.now + 10.0 * i), 1);
        }
      }
      course.now += 1_000;
      assertThat(flooded.ceiling()).isEqualTo(law.ceiling()).isEqualTo(20);
      assertThat(flooded.baselineNanos()).isEqualTo(law.baselineNanos()).isEqualTo(20e6);
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
        assertThat(shuffled.ceiling()).as("seed %s", seed).isEqualTo(straight.ceiling());
        assertThat(straight.measuring()).isFalse(); // a measurement uses the first requests
      }
    }
  }

  @Test
  void t14WhenARequestSaysItBeganDoesNotMoveAWindow() {
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
      assertThat(skewed.ceiling()).isEqualTo(straight.ceiling());
    }
  }

  @Test
  void t13HoldsWhileNothingIsHeardAndGoesOnAfterwards() {
    ProbedVegasLimit law = course.calm(50, 20);
    course.window(law, 20, 24);
    int before = law.ceiling();
    for (int i = 0; i < 300; i++) {
      law.refused(ms(course.now += 100), 10);
      assertThat(law.ceiling()).isEqualTo(before);
    }
    for (int i = 0; i < 50; i++) {
      law.learn(completed(course.now + 1 + i, 20, 24));
    }
    assertThat(law.measuring()).isTrue(); // the window had refusals, and the calm is 30 s ago
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    WindowSettings windows = WindowSettings.defaults();
    assertThatThrownBy(() -> new Settings(windows, 0, 1, 0)).hasMessageContaining("0, 1 and 0");
    assertThatThrownBy(() -> new Settings(windows, 1, 0, 0)).hasMessageContaining("1, 0 and 0");
    assertThatThrownBy(() -> new Settings(windows, 1, 1, -1)).hasMessageContaining("and -1");
    assertThatThrownBy(() -> new WindowSettings(0, 1, 1)).hasMessageContaining("minNanos is 0");
    assertThatThrownBy(() -> new WindowSettings(2, 1, 1)).hasMessageContaining("maxNanos 1");
    assertThatThrownBy(() -> new WindowSettings(1, 1, 0)).hasMessageContaining("minSamples 0");
  }
}
