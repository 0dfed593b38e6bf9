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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbedVegasLimitTest {
  private static final double WINDOW = 1_010;

  private static final Settings FIFTY =
      new Settings(
          WindowSettings.defaults(),
          TimeUnit.SECONDS.toNanos(60),
          50,
          TimeUnit.MILLISECONDS.toNanos(600));

  private double now;

  @Test
  void growsByAQuarterWhileThereIsNoQueueAndHalfIsInUse() {
    ProbedVegasLimit law = from(20);
    window(law, 20, 9);
    assertThat(law.ceiling()).isEqualTo(20);
    window(law, 20, 10);
    assertThat(law.ceiling()).isEqualTo(25);
    window(law, 20, 25);
    assertThat(law.ceiling()).isEqualTo(31);
  }

  @Test
  void standsWithASmallQueueAndFallsWithALargeOne() {
    ProbedVegasLimit law = from(40);
    window(law, 20, 19);
    window(law, 24, 19); // baseline (20 + 24) / 2, queue ⌈40 · 2/24⌉ = 4, alpha 3, beta 6
    assertThat(law.baselineNanos()).isEqualTo(22e6);
    assertThat(law.ceiling()).isEqualTo(40);
    saturated(law, 44, 40); // queue 20: a quarter of what is beyond 6
    assertThat(law.baselineNanos()).isEqualTo(22e6);
    assertThat(law.ceiling()).isEqualTo(36);
  }

  @Test
  void theBaselineFollowsDownAFifthAndUpSlowlyAndStandsWhileSaturated() {
    ProbedVegasLimit law = calm(20, 20);
    window(law, 10, 1);
    assertThat(law.baselineNanos()).isEqualTo(18e6);
    window(law, 18 + 6.1, 1);
    assertThat(law.baselineNanos()).isCloseTo(18.2e6, within(1.0));
    saturated(law, 100, 1);
    assertThat(law.baselineNanos()).isCloseTo(18.2e6, within(1.0));
  }

  @Test
  void oneRefusedIn200IsNotSaturationAndOneMoreIs() {
    ProbedVegasLimit law = calm(20, 20);
    law.refused(ms(now + 1), 0);
    for (int w = 0; w < 60; w++) {
      for (int i = 1; i <= 199; i++) {
        law.learn(completed(now + 5.0 * i, 20, 1));
      }
      law.refused(ms(now + 1_000), 1);
      law.learn(completed(now + WINDOW, 20, 1));
      now += WINDOW;
      assertThat(law.measuring()).isFalse();
    }
    double calm = now;
    while (!law.measuring() && now - calm < 90_000) { // half an interval after the calm ended
      law.refused(ms(now), 1);
      window(law, 20, 1);
    }
    assertThat(now - calm).isBetween(30_000.0, 30_000 + WINDOW);
  }

  @Test
  void neverMoreThanFiveTimesWhatWasInFlight() {
    ProbedVegasLimit law = from(40);
    window(law, 20, 3);
    assertThat(law.ceiling()).isEqualTo(39);
    for (int i = 0; i < 40; i++) {
      window(law, 20, 3);
    }
    assertThat(law.ceiling()).isEqualTo(15);
  }

  @Test
  void t17AllRequestsGivenUpLowerTheCeilingEachWindowDownToTheLeast() {
    ProbedVegasLimit law = calm(200, 20);
    double baseline = law.baselineNanos();
    int before = law.ceiling();
    while (before > 4) {
      second(law, now, 1_000, 200, true);
      law.learn(dropped(now + WINDOW, 1_000, 200));
      now += WINDOW;
      assertThat(law.ceiling()).isLessThan(before);
      before = law.ceiling();
    }
    assertThat(law.ceiling()).isEqualTo(4);
    assertThat(law.baselineNanos()).isEqualTo(baseline);
  }

  @Test
  void oneGivenUpInTwentyIsNotEvidenceAndOneMoreIs() {
    ProbedVegasLimit law = calm(100, 20);
    mixed(law, 95, 5);
    assertThat(law.ceiling()).isEqualTo(100);
    mixed(law, 94, 6);
    assertThat(law.ceiling()).isEqualTo(90);
  }

  @Test
  void t16AFloodOfRefusalsMovesNeitherBaselineNorCeiling() {
    ProbedVegasLimit law = calm(20, 20);
    ProbedVegasLimit flooded = calm(20, 20);
    for (int w = 0; w < 20; w++) {
      for (int i = 1; i <= 100; i++) {
        law.learn(completed(now + 10.0 * i, 20, 9));
        flooded.learn(completed(now + 10.0 * i, 20, 9));
        for (int denied = 0; denied < 10; denied++) {
          flooded.learn(completed(now + 10.0 * i, 0, 20));
          flooded.refused(ms(now + 10.0 * i), 1);
        }
      }
      now += 1_000;
      assertThat(flooded.ceiling()).isEqualTo(law.ceiling()).isEqualTo(20);
      assertThat(flooded.baselineNanos()).isEqualTo(law.baselineNanos()).isEqualTo(20e6);
    }
  }

  @Test
  void t15TheOrderOfAWindowsRequestsDoesNotMatter() {
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      now = 0;
      ProbedVegasLimit straight = calm(50, 20);
      now = 0;
      ProbedVegasLimit shuffled = calm(50, 20);
      for (int w = 0; w < 20; w++) {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < 120; i++) {
          double rtt = 18 + random.nextInt(6);
          samples.add(
              random.nextInt(30) == 0
                  ? dropped(now + 900, 1_000, 40)
                  : completed(now + 900, rtt, 1 + random.nextInt(50)));
        }
        Sample last = completed(now + WINDOW, 20, 1);
        samples.forEach(straight::learn);
        straight.learn(last);
        Collections.shuffle(samples, random);
        samples.forEach(shuffled::learn);
        shuffled.learn(last);
        now += WINDOW;
        assertThat(shuffled.ceiling()).as("seed %s", seed).isEqualTo(straight.ceiling());
        assertThat(straight.measuring()).isFalse(); // a measurement takes the first that come
      }
    }
  }

  @Test
  void t14WhenARequestSaysItBeganDoesNotMoveAWindow() {
    ProbedVegasLimit straight = calm(50, 20);
    now = 0;
    ProbedVegasLimit skewed = calm(50, 20);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 2_000; i++) {
      Sample sample = completed(now += 10, 15 + random.nextInt(9), 1 + random.nextInt(50));
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
    ProbedVegasLimit law = calm(50, 20);
    window(law, 20, 24);
    int before = law.ceiling();
    for (int i = 0; i < 300; i++) {
      law.refused(ms(now += 100), 10);
      assertThat(law.ceiling()).isEqualTo(before);
    }
    for (int i = 0; i < 50; i++) {
      law.learn(completed(now + 1 + i, 20, 24));
    }
    assertThat(law.measuring()).isTrue(); // the window had refusals, and the calm is 30 s ago
  }

  @Test
  void fiveDecreasesThatDoNotHelpAreABackendThatBecameSlower() {
    ProbedVegasLimit law = calm(40, 20);
    for (int i = 0; i < 5; i++) {
      assertThat(law.measuring()).isFalse();
      saturated(law, 60, 40);
    }
    assertThat(law.measuring()).isTrue();
    int lowered = law.ceiling();
    probed(law, 60, 50);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(60e6);
    assertThat(law.ceiling()).isBetween(2 * lowered, 2 * lowered + 1);
  }

  @Test
  void descendsWhileLatencyFallsWithTheCeiling() {
    ProbedVegasLimit law = calm(80, 20);
    for (int i = 0; i < 5; i++) {
      saturated(law, 200, 80);
    }
    int lowered = law.ceiling();
    probed(law, 110, 50);
    assertThat(law.measuring()).isTrue();
    assertThat(law.ceiling()).isEqualTo(lowered / 2);
    probed(law, 60, 50);
    assertThat(law.ceiling()).isEqualTo(4); // the least
    probed(law, 20, 50);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(20e6);
  }

  /** At a ceiling of 40, 40 ms in place of 20: 20 wait, of which 6 may. */
  @Test
  void goesBackToWhereItWasLessTheQueueThatTheMeasurementShowed() {
    ProbedVegasLimit law = calm(40, 40); // of a queue that has been there from the beginning
    for (int second = 0; second < 40 && !law.measuring(); second++) {
      saturated(law, 40, 20);
      assertThat(law.baselineNanos()).isEqualTo(40e6);
    }
    assertThat(law.measuring()).isTrue();
    int from = 2 * law.ceiling();
    probed(law, 20, 100);
    assertThat(law.ceiling()).isEqualTo(from / 4);
    probed(law, 20, 100);
    assertThat(law.measuring()).isFalse();
    assertThat(law.baselineNanos()).isEqualTo(30e6);
    assertThat(law.ceiling()).isEqualTo((int) Math.floor(from * 0.75) + 6);
  }

  @Test
  void decreasesThatLatencyFollowsAreNoDoubt() {
    ProbedVegasLimit law = calm(80, 20);
    for (int second = 0; second < 20; second++) {
      saturated(law, law.ceiling(), law.ceiling()); // a millisecond for each in flight
      assertThat(law.measuring()).isFalse();
    }
    assertThat(law.ceiling()).isBetween(22, 32); // 20 at work, and a small queue
  }

  @Test
  void aMeasurementBelowTheBaselineCountsHalf() {
    ProbedVegasLimit law = calm(40, 40);
    for (int i = 0; i < 5; i++) {
      saturated(law, 60, 40);
    }
    probed(law, 39, 50); // exactly .65 of 60
    assertThat(law.baselineNanos()).isEqualTo(39.5e6);
  }

  @Test
  void aMeasurementTakesOnlyRequestsThatBeganBelowTheLoweredCeiling() {
    ProbedVegasLimit law = calm(40, 20);
    for (int i = 0; i < 5; i++) {
      saturated(law, 60, 40);
    }
    for (int i = 0; i < 500; i++) {
      law.learn(completed(now + 30, 31, 40));
    }
    assertThat(law.measuring()).isTrue();
    for (int i = 0; i < 49; i++) {
      law.learn(completed(now + 60, 60, 20));
    }
    assertThat(law.measuring()).isTrue();
    law.learn(completed(now + 60, 60, 20));
    assertThat(law.measuring()).isFalse();
  }

  @Test
  void aMeasurementTakesNoLatencyOfZero() {
    ProbedVegasLimit law = calm(40, 20);
    for (int i = 0; i < 5; i++) {
      saturated(law, 60, 40);
    }
    probed(law, 0, 200);
    assertThat(law.measuring()).isTrue();
    probed(law, 60, 50);
    assertThat(law.baselineNanos()).isEqualTo(60e6);
  }

  @Test
  void aMeasurementWaitsForAGateThatSaysWhenItObeysAndForTheMargin() {
    ProbedVegasLimit law = calm(40, 20);
    law.inForce(ms(now));
    for (int i = 0; i < 5; i++) {
      saturated(law, 60, 40);
    }
    double lowered = now;
    probed(law, 60, 200);
    assertThat(law.measuring()).isTrue();
    law.inForce(ms(lowered - 1)); // of an older ceiling
    probed(law, 60, 200);
    assertThat(law.measuring()).isTrue();
    law.inForce(ms(now));
    for (int i = 0; i < 200; i++) {
      law.learn(completed(now + 659, 60, 20));
    }
    assertThat(law.measuring()).isTrue();
    for (int i = 0; i < 50; i++) {
      law.learn(completed(now + 660, 60, 20));
    }
    assertThat(law.measuring()).isFalse();
  }

  @Test
  void whatTheLoweredCeilingLetInDoesNotCountOnceItIsRaised() {
    ProbedVegasLimit law = obeyed();
    int restored = law.ceiling();
    window(law, 10, 40); // nothing says that the gate has raised its own
    assertThat(law.ceiling()).isEqualTo(restored);
    law.inForce(ms(now));
    for (int i = 0; i < 500; i++) {
      law.learn(completed(now + 9 + i * 4, i * 4 + 10, 40)); // began 1 ms before
    }
    assertThat(law.ceiling()).isEqualTo(restored);
    window(law, 60, 40);
    window(law, 60, 40);
    assertThat(law.ceiling()).isGreaterThan(restored);
  }

  @Test
  void aGateThatNeverSaysThatItObeysAgainIsWaitedForHalfAnIntervalOnly() {
    ProbedVegasLimit law = obeyed();
    int restored = law.ceiling();
    double measured = now;
    while (law.ceiling() == restored && now - measured < 100_000) {
      window(law, 60, 40);
    }
    assertThat(now - measured).isBetween(30_000.0, 30_000 + 3 * WINDOW);
  }

  @Test
  void aMeasurementThatNobodyHearsOfIsGivenUp() {
    ProbedVegasLimit law = calm(40, 20);
    for (int i = 0; i < 5; i++) {
      saturated(law, 60, 40);
    }
    int lowered = law.ceiling();
    assertThat(law.measuring()).isTrue();
    law.refused(ms(now + 29_000), 0);
    assertThat(law.ceiling()).isEqualTo(lowered);
    law.refused(ms(now + 30_000), 0);
    assertThat(law.measuring()).isFalse();
    assertThat(law.ceiling()).isBetween(2 * lowered, 2 * lowered + 1);
  }

  /** Who stands still while others obey would keep the ceiling halved half of the time. */
  @Test
  void noMeasurementBeginsBeforeTheLastOneIsOverForTheGate() {
    ProbedVegasLimit law = calm(40, 20);
    law.inForce(ms(now));
    int measured = 0;
    for (int second = 0; second < 600; second++) {
      boolean before = law.measuring();
      saturated(law, 60, law.ceiling());
      measured += !before && law.measuring() ? 1 : 0;
    }
    assertThat(measured).isEqualTo(1);
  }

  @Test
  void aMeasurementWithoutAnswerIsGivenUp() {
    ProbedVegasLimit law = calm(40, 20);
    law.inForce(ms(now));
    for (int i = 0; i < 5; i++) {
      saturated(law, 60, 40);
    }
    int lowered = law.ceiling();
    law.learn(completed(now + 29_999, 10, 20));
    assertThat(law.ceiling()).isEqualTo(lowered);
    law.learn(completed(now + 30_000, 10, 20));
    assertThat(law.measuring()).isFalse();
    assertThat(law.ceiling()).isBetween(2 * lowered, 2 * lowered + 1);
    assertThat(law.baselineNanos()).isEqualTo(20e6);
  }

  @Test
  void requestsGivenUpWhileItMeasuresKeepTheCeilingLow() {
    ProbedVegasLimit law = calm(40, 20);
    for (int i = 0; i < 5; i++) {
      saturated(law, 60, 40);
    }
    int lowered = law.ceiling();
    for (int i = 0; i < 50; i++) {
      law.learn(dropped(now + 1_000, 1_000, lowered));
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
      now = 0;
      ProbedVegasLimit law =
          new ProbedVegasLimit(new CeilingRange(4, 500, 40), FIFTY, new SplittableRandom(seed));
      saturated(law, 20, 10); // the first window: what it saw may have been a queue
      assertThat(law.measuring()).isTrue();
      probed(law, found, 50);
      double measured = now;
      while (!law.measuring() && now - measured < 190_000) {
        saturated(law, found, 10);
      }
      assertThat(now - measured).as("seed %s", seed).isBetween(least, most + 2 * WINDOW);
    }
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

  /** A law that has just measured 60 ms behind a gate that said when it obeyed. */
  private ProbedVegasLimit obeyed() {
    ProbedVegasLimit law = calm(40, 20);
    law.inForce(ms(now));
    for (int i = 0; i < 5; i++) {
      saturated(law, 60, 40);
    }
    law.inForce(ms(now));
    now += 700;
    probed(law, 60, 50);
    assertThat(law.measuring()).isFalse();
    return law;
  }

  private ProbedVegasLimit from(int initial) {
    return new ProbedVegasLimit(new CeilingRange(4, 500, initial), FIFTY, new SplittableRandom(7));
  }

  /** A law that has seen ten windows without queue or refusal, and too little load to grow. */
  private ProbedVegasLimit calm(int initial, double rttMillis) {
    ProbedVegasLimit law = from(initial);
    for (int i = 0; i < 10; i++) {
      window(law, rttMillis, (initial - 1) / 2);
    }
    assertThat(law.ceiling()).isEqualTo(initial);
    return law;
  }

  private void window(ProbedVegasLimit law, double rttMillis, int inFlight) {
    law.refused(ms(now), 0); // the first window begins when something is told
    second(law, now, rttMillis, inFlight, false);
    law.learn(completed(now + WINDOW, rttMillis, inFlight));
    now += WINDOW;
  }

  private void saturated(ProbedVegasLimit law, double rttMillis, int inFlight) {
    law.refused(ms(now), 5);
    window(law, rttMillis, inFlight);
  }

  private void mixed(ProbedVegasLimit law, int completed, int dropped) {
    for (int i = 0; i < dropped; i++) {
      law.learn(dropped(now + 1, 1_000, 30));
    }
    for (int i = 1; i < completed; i++) {
      law.learn(completed(now + 2, 20, 30));
    }
    law.learn(completed(now + WINDOW, 20, 30));
    now += WINDOW;
  }

  /** Requests that begin one after another from now on. */
  private void probed(ProbedVegasLimit law, double rttMillis, int requests) {
    for (int i = 0; i < requests; i++) {
      law.learn(completed(now + rttMillis + i, rttMillis, 1));
    }
    now += rttMillis + requests;
  }
}
