package io.throttlekit.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Cost;
import org.junit.jupiter.api.Test;

/** Tests estimates of the units that are still to come in a window of ten seconds. */
class PaceTest {
  private static final long LENGTH = ms(10_000);

  private final Pace pace = new Pace(LENGTH);

  @Test
  void theForecastIsUnknownBeforeAFewIntervals() {
    assertThat(toCome(0)).isEqualTo(Pace.UNKNOWN);
    offerEvenly(0, 3, 100);
    assertThat(toCome(300)).isEqualTo(Pace.UNKNOWN);
    pace.offer(1, ms(300));
    assertThat(toCome(300)).isNotEqualTo(Pace.UNKNOWN);
  }

  @Test
  void theForecastAssumesAnEvenRate() {
    offerEvenly(1_000, 11, 100);
    assertThat(toCome(2_000)).as("every 100 ms, strictly within 8 s").isEqualTo(79);
    assertThat(toCome(2_050)).as("the later, the fewer").isEqualTo(75);
    assertThat(toCome(10_000)).isZero();
    assertThat(toCome(12_000)).isZero();
  }

  @Test
  void aRequestDueWithinTheUncertaintyOfTheEndIsCounted() {
    offerEvenly(0, 6, 1_000);
    assertThat(pace.toCome(ms(5_000), ms(9_990), ms(10_010))).isEqualTo(5);
    assertThat(pace.toCome(ms(5_000), ms(9_990), ms(10_000))).isEqualTo(4);
  }

  @Test
  void costsCountAsUnits() {
    for (int i = 0; i < 5; i++) {
      pace.offer(10, ms(1_000L * i));
    }
    assertThat(pace.offered()).isEqualTo(50);
    assertThat(toCome(4_000)).as("10 each second, strictly within 6").isEqualTo(59);
  }

  @Test
  void earlyInAWindowTheForecastIsThePreviousWindow() {
    offerEvenly(0, 40, 250);
    pace.roll(1, LENGTH);
    assertThat(toCome(10_000, 20_000)).isEqualTo(40);
    pace.offer(5, ms(10_000));
    assertThat(toCome(10_000, 20_000)).isEqualTo(35);
    pace.offer(50, ms(10_000));
    assertThat(toCome(10_001, 20_000)).as("never below 0").isGreaterThanOrEqualTo(0);
  }

  @Test
  void aSimilarWindowIsForecastByThePreviousOne() {
    offerEvenly(0, 41, 240);
    pace.roll(1, LENGTH);
    offerEvenly(10_125, 30, 250);
    assertThat(toCome(17_375, 20_000)).as("11 of 41, not 10 by its pace").isEqualTo(11);
  }

  @Test
  void aDifferentWindowIsForecastByItsOwnRate() {
    offerEvenly(0, 40, 250);
    pace.roll(1, LENGTH);
    offerEvenly(10_000, 60, 100);
    assertThat(toCome(15_900, 20_000)).as("40 more, not 0").isBetween(39L, 41L);
  }

  @Test
  void aPartiallyObservedWindowGivesNoForecast() {
    offerEvenly(7_000, 10, 100);
    pace.roll(1, LENGTH);
    assertThat(toCome(10_000, 20_000)).isEqualTo(Pace.UNKNOWN);
    pace.offer(3, ms(10_000));
    pace.roll(1, 2 * LENGTH);
    assertThat(toCome(20_000, 30_000)).as("but the next one does").isEqualTo(3);
  }

  @Test
  void anEmptyPreviousWindowForecastsNoRequests() {
    offerEvenly(0, 40, 250);
    pace.roll(2, 2 * LENGTH);
    assertThat(toCome(20_000, 30_000)).isZero();
    assertThat(pace.offered()).isZero();
  }

  @Test
  void aShorterPeriodIsForecastProportionallyRoundedUp() {
    assertThat(pace.within(ms(1_000), 0)).isZero();
    offerEvenly(0, 10, 100);
    assertThat(pace.within(ms(1_000), ms(2_000))).isEqualTo(5);
    assertThat(pace.within(ms(1), ms(2_000))).isEqualTo(1);
    assertThat(pace.within(0, ms(2_000))).isZero();
    assertThat(pace.within(ms(100_000), ms(2_000))).isEqualTo(10);
  }

  @Test
  void earlyInAWindowAPeriodIsForecastByThePreviousWindow() {
    offerEvenly(0, 100, 100);
    pace.roll(1, LENGTH);
    pace.offer(1, ms(10_000));
    assertThat(pace.within(ms(1_000), ms(10_010))).isEqualTo(10);
    assertThat(pace.within(ms(1_000), ms(12_499))).isEqualTo(10);
    assertThat(pace.within(ms(1_000), ms(12_500))).as("now it is known").isEqualTo(1);
  }

  @Test
  void hugeCostsDoNotOverflow() {
    for (int i = 0; i < 3_000; i++) {
      pace.offer(Cost.MAX, i);
    }
    assertThat(pace.offered()).isEqualTo(Long.MAX_VALUE);
    assertThat(toCome(1)).isPositive();
    pace.roll(1, LENGTH);
    pace.offer(1, LENGTH);
    assertThat(toCome(10_000, 20_000)).isPositive();
  }

  private void offerEvenly(long firstMillis, int requests, long everyMillis) {
    for (int i = 0; i < requests; i++) {
      pace.offer(1, ms(firstMillis + i * everyMillis));
    }
  }

  private long toCome(long nowMillis) {
    return toCome(nowMillis, 10_000);
  }

  private long toCome(long nowMillis, long endMillis) {
    return pace.toCome(ms(nowMillis), ms(endMillis), ms(endMillis));
  }

  private static long ms(long millis) {
    return millis * 1_000_000;
  }
}
