package io.throttlekit.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Cost;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests when windows are certainly current and certainly over, to the nanosecond. */
class WindowClockTest {
  private static final long END = 10_000;
  private static final long LENGTH = 10_000;

  private final WindowClock clock = new WindowClock(new FixedWindow(100, LENGTH));

  @Test
  void isUnknownBeforeTheFirstAnswer() {
    assertThat(clock.isKnown()).isFalse();
    assertThat(clock.roll(ms(1_000_000))).isZero();
  }

  @Test
  void boundsOfAWindowIncludeRoundingAndClockRates() {
    clock.follow(units(END, 6_000), false, ms(100), ms(150));
    assertThat(clock.isKnown()).isTrue();
    assertThat(clock.lastsUntilNanos()).isEqualTo(ms(100 + 6_000 - 1 - 6));
    assertThat(clock.overByNanos()).isEqualTo(ms(150 + 6_000 + 6));
    assertThat(clock.mayBeOver(ms(6_093) - 1)).isFalse();
    assertThat(clock.mayBeOver(ms(6_093))).isTrue();
  }

  @Test
  void boundsUseBothTimesOfAnAnswer() {
    clock.follow(new LeaseGrant(1, END, 5_000, 7_000, 90), false, 0, ms(10));
    assertThat(clock.lastsUntilNanos()).isEqualTo(ms(5_000 - 1 - 5));
    assertThat(clock.overByNanos()).isEqualTo(ms(10 + 7_000 + 7));
  }

  @Test
  void boundsWidenWithEachFollowingWindow() {
    clock.follow(units(END, 10_000), false, 0, 0);
    assertThat(clock.roll(ms(10_010) - 1)).isZero();
    assertThat(clock.roll(ms(10_010))).isEqualTo(1);
    assertThat(clock.endMillis()).isEqualTo(2 * END);
    assertThat(clock.nextEndMillis()).isEqualTo(3 * END);
    assertThat(clock.lastsUntilNanos()).isEqualTo(ms(9_989 + 9_990));
    assertThat(clock.overByNanos()).isEqualTo(ms(10_010 + 10_010));
    assertThat(clock.roll(ms(10_010))).isZero();
  }

  @Test
  void manyWindowsRollLikeSingleOnes() {
    WindowClock steady = new WindowClock(new FixedWindow(100, LENGTH));
    clock.follow(units(END, 10_000), false, 0, 0);
    steady.follow(units(END, 10_000), false, 0, 0);
    long windows = 0;
    for (long second = 0; second <= 50_000; second++) {
      windows += steady.roll(ms(second * 1_000));
    }
    assertThat(clock.roll(ms(50_000_000))).isEqualTo(windows);
    assertThat(clock).hasToString(steady.toString());
  }

  @Test
  void followsNewerWindowsOnly() {
    clock.follow(units(END, 10_000), false, 0, 0);
    assertThat(clock.follow(units(END, 9_000), false, ms(500), ms(500))).isZero();
    assertThat(clock.follow(units(4 * END, 2_000), false, ms(500), ms(600))).isEqualTo(3);
    assertThat(clock.endMillis()).isEqualTo(4 * END);
    assertThat(clock.lastsUntilNanos()).isEqualTo(ms(500 + 2_000 - 1 - 2));
    assertThat(clock.overByNanos()).isEqualTo(ms(600 + 2_000 + 2));
    assertThat(clock.follow(units(END, 9_000), false, ms(700), ms(700))).isZero();
    assertThat(clock.endMillis()).isEqualTo(4 * END);
  }

  @Test
  void aLeaseOfTheNextWindowDoesNotMakeItCurrent() {
    clock.follow(units(END, 10_000), false, 0, 0);
    assertThat(clock.follow(units(2 * END, 19_000), true, ms(1_000), ms(1_000))).isZero();
    assertThat(clock.endMillis()).isEqualTo(END);
    assertThat(clock.follow(units(3 * END, 29_000), true, ms(1_000), ms(1_000))).isEqualTo(2);
  }

  @Test
  void ofSeveralAnswersTheTightestBoundsApply() {
    clock.follow(units(END, 10_000), false, 0, ms(300)); // current until 9,989, over by 10,310
    clock.narrow(units(END, 9_400), ms(500), ms(620)); // until 9,889.6, by 10,029.4
    assertThat(clock.lastsUntilNanos()).isEqualTo(ms(9_989));
    assertThat(clock.overByNanos()).isEqualTo(ms(10_029) + 400_000);
    clock.narrow(units(END, 8_000), ms(2_000), ms(2_400)); // until 9,991, by 10,408
    assertThat(clock.lastsUntilNanos()).isEqualTo(ms(9_991));
    assertThat(clock.overByNanos()).isEqualTo(ms(10_029) + 400_000);
  }

  @Test
  void anAnswerForTheNextWindowBoundsTheEndOfThisOne() {
    clock.follow(units(END, 10_000), false, 0, ms(300));
    clock.narrow(units(2 * END, 18_000), ms(2_000), ms(2_100));
    assertThat(clock.lastsUntilNanos()).isEqualTo(ms(2_000 + 8_000 - 1 - 8));
    assertThat(clock.overByNanos()).isEqualTo(ms(2_100 + 8_000 + 8));
  }

  @Test
  void ofContradictoryAnswersTheLastApplies() {
    clock.follow(units(END, 10_000), false, 0, 0);
    clock.narrow(units(END, 3_000), ms(1_000), ms(1_000)); // the clock was set forward
    assertThat(clock.lastsUntilNanos()).isEqualTo(ms(1_000 + 3_000 - 1 - 3));
    assertThat(clock.overByNanos()).isEqualTo(ms(1_000 + 3_000 + 3));
    clock.narrow(units(END, 9_000), ms(1_000), ms(1_000)); // and back
    assertThat(clock.lastsUntilNanos()).isEqualTo(ms(1_000 + 9_000 - 1 - 9));
    assertThat(clock.overByNanos()).isEqualTo(ms(1_000 + 9_000 + 9));
  }

  @Test
  void aVeryLongWindowDoesNotOverflow() {
    for (long length : new long[] {9_400_000_000_000L, 20_000_000_000_000L, Cost.MAX}) {
      WindowClock ages = new WindowClock(new FixedWindow(100, length));
      ages.follow(units(length, length), false, 0, 0);
      assertThat(ages.mayBeOver(ms(1_000_000_000))).as("%d", length).isFalse();
      assertThat(ages.roll(ms(1_000_000_000))).isZero();
    }
  }

  /** Two clocks, each off by almost the largest rate of a clock that is being corrected. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void theCurrentWindowIsAmongThePossibleOnesForAnyClocks(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double here = 1 + (random.nextInt(3) - 1) * 499e-6;
    double far = 1 + (random.nextInt(3) - 1) * 499e-6;
    double farAhead = random.nextDouble(1e6);
    double now = 0;
    WindowClock each = new WindowClock(new FixedWindow(100, LENGTH));
    long sure = 0;
    for (int answer = 0; answer < 2_000; answer++) {
      double asked = now + random.nextDouble(1_000) * (random.nextInt(50) == 0 ? 100_000 : 10);
      double read = asked + random.nextDouble(random.nextBoolean() ? 1 : 300);
      double answered = read + random.nextDouble(random.nextBoolean() ? 1 : 300);
      long farMillis = (long) (farAhead + read * far);
      long end = farMillis - farMillis % LENGTH + LENGTH;
      LeaseGrant units = units(end, end - farMillis);
      each.roll(nanos(answered * here));
      each.follow(units, false, nanos(asked * here), nanos(answered * here));
      if (units.windowEndMillis() >= each.endMillis()) {
        each.narrow(units, nanos(asked * here), nanos(answered * here));
      }
      now = answered + random.nextDouble(20_000);
      each.roll(nanos(now * here));
      long lasting = (long) (farAhead + now * far);
      lasting += LENGTH - lasting % LENGTH;
      boolean either = each.mayBeOver(nanos(now * here));
      sure += either ? 0 : 1;
      assertThat(lasting)
          .as("seed %d, answer %d, %s at %s", seed, answer, each, now)
          .isBetween(each.endMillis(), either ? each.nextEndMillis() : each.endMillis());
    }
    assertThat(sure).as("it is known most of the time, seed %d", seed).isGreaterThan(1_800);
  }

  private static LeaseGrant units(long end, long millis) {
    return new LeaseGrant(1, end, millis, millis, 90);
  }

  private static long ms(long millis) {
    return millis * 1_000_000;
  }

  private static long nanos(double millis) {
    return (long) (millis * 1e6);
  }
}
