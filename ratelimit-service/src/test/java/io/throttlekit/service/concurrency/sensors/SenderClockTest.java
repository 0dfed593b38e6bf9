package io.throttlekit.service.concurrency.sensors;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SenderClockTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final SenderClock clock = new SenderClock();

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - 100, Long.MIN_VALUE + 100, -5})
  void aLateEntryIsDatedBackByItsDelay(long origin) {
    assertThat(clock.happenedNanos(1_000, origin + 1_040)).isEqualTo(origin + 1_040);
    assertThat(clock.happenedNanos(2_000, origin + 2_540)).isEqualTo(origin + 2_040);
    assertThat(clock.happenedNanos(3_000, origin + 3_010)).isEqualTo(origin + 3_010);
    assertThat(clock.happenedNanos(2_500, origin + 3_010)).isEqualTo(origin + 2_510);
  }

  @Test
  void followsAClockSetForwardAtOnce() {
    long hour = 3_600 * SECOND;
    assertThat(clock.happenedNanos(0, 10)).isEqualTo(10);
    assertThat(clock.happenedNanos(hour, 20)).isEqualTo(20);
    assertThat(clock.happenedNanos(hour + 5, 30)).isEqualTo(25);
  }

  @Test
  void followsAClockSetBackAtOnce() {
    long hour = 3_600 * SECOND;
    assertThat(clock.happenedNanos(hour, 10)).isEqualTo(10);
    assertThat(clock.happenedNanos(5, 20)).isEqualTo(20);
    assertThat(clock.happenedNanos(6, 30)).isEqualTo(21);
  }

  @Test
  void followsASlowClockWithinTwoMinutes() {
    for (int second = 0; second < 600; second++) { // it loses a ms each second
      long arrived = second * SECOND;
      long written = arrived - second * (SECOND / 1_000);
      long late = arrived - clock.happenedNanos(written, arrived);
      assertThat(late).isBetween(0L, SECOND / 1_000 * 120);
    }
  }
}
