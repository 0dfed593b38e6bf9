package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClockReadingTest {
  private static final long FAR = 1_700_000_000_000L;

  private final ClockReading reading = new ClockReading(FAR, ms(100), ms(130));

  @Test
  void atItsOwnTimeTheErrorIsRoundingPlusRoundTrip() {
    assertThat(reading.earliestMillis(ms(130))).isEqualTo(FAR);
    assertThat(reading.latestMillis(ms(100))).isEqualTo(FAR + 1);
    assertThat(reading.surelyBefore(FAR + 1)).isEqualTo(ms(100));
    assertThat(reading.surelyReached(FAR)).isEqualTo(ms(130));
  }

  @Test
  void laterTimesAddAnErrorOfOneInAThousand() {
    assertThat(reading.earliestMillis(ms(10_130))).isEqualTo(FAR + 9_990);
    assertThat(reading.latestMillis(ms(10_100))).isEqualTo(FAR + 10_011);
    assertThat(reading.surelyBefore(FAR + 10_001)).isEqualTo(ms(100 + 10_000 - 10));
    assertThat(reading.surelyReached(FAR + 10_000)).isEqualTo(ms(130 + 10_000 + 10));
  }

  @Test
  void earlierTimesAddAnErrorOfOneInAThousand() {
    assertThat(reading.earliestMillis(ms(130 - 10_000))).isEqualTo(FAR - 10_010);
    assertThat(reading.latestMillis(ms(100 - 10_000))).isEqualTo(FAR - 9_989);
    assertThat(reading.surelyReached(FAR - 10_000)).isEqualTo(ms(130 - 10_000 + 10));
  }

  @Test
  void fractionsOfAMillisecondAreRoundedToTheSafeSide() {
    assertThat(reading.earliestMillis(ms(130) - 1)).isEqualTo(FAR - 1);
    assertThat(reading.earliestMillis(ms(131) - 1)).isEqualTo(FAR);
    assertThat(reading.latestMillis(ms(100) + 1)).isEqualTo(FAR + 2);
    assertThat(reading.latestMillis(ms(100) - 1)).isEqualTo(FAR + 1);
  }

  @Test
  void theEndOfAThousandYearWindowDoesNotOverflow() {
    long year = 365L * 24 * 3_600_000;
    assertThat(reading.surelyBefore(FAR + 1_000 * year)).isGreaterThan(ms(99 * year));
    assertThat(reading.surelyReached(FAR + 1_000 * year)).isGreaterThan(ms(99 * year));
    assertThat(reading.surelyReached(FAR - 1_000 * year)).isLessThan(ms(-99 * year));
  }

  /** Two clocks, each off by almost the largest rate of a clock that is being corrected. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void boundsHoldForAnyTwoClocks(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 20_000; i++) {
      double here = 1 + (random.nextInt(3) - 1) * 499e-6;
      double far = 1 + (random.nextInt(3) - 1) * 499e-6;
      double asked = random.nextDouble(100_000);
      double read = asked + random.nextDouble(50);
      double answered = read + random.nextDouble(50);
      long farMillis = FAR + (long) (read * far);
      ClockReading each = new ClockReading(farMillis, nanos(asked * here), nanos(answered * here));
      double then = asked + random.nextDouble(-30_000, 30_000);
      String run = "seed %d, %s at %s".formatted(seed, each, then);
      double farThen = then * far;
      assertThat(each.earliestMillis(nanos(then * here)) - FAR)
          .as(run)
          .isLessThanOrEqualTo((long) Math.floor(farThen + 1e-3));
      assertThat((double) (each.latestMillis(nanos(then * here)) - FAR))
          .as(run)
          .isGreaterThanOrEqualTo(farThen - 1e-3);
      long mark = (long) farThen;
      double markHere = mark / far * here * 1e6;
      assertThat((double) each.surelyReached(FAR + mark))
          .as(run)
          .isGreaterThanOrEqualTo(markHere - 30_000);
      assertThat((double) each.surelyBefore(FAR + mark))
          .as(run)
          .isLessThanOrEqualTo(markHere + 30_000);
    }
  }

  private static long ms(long millis) {
    return millis * 1_000_000;
  }

  private static long nanos(double millis) {
    return (long) (millis * 1e6);
  }
}
