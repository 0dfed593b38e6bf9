package io.throttlekit.service.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LogIntervalTest {
  @Test
  void oneLineInAnIntervalIsDueTheFirstAtOnce() {
    long begin = Long.MAX_VALUE - 5; // monotonic clocks may overflow
    LogInterval interval = new LogInterval(Duration.ofNanos(10), begin);
    assertThat(interval.isDue(begin)).isTrue();
    assertThat(interval.isDue(begin + 9)).isFalse();
    assertThat(interval.isDue(begin + 12)).isTrue();
    assertThat(interval.isDue(begin + 21)).isFalse();
    assertThat(interval.isDue(begin + 22)).isTrue();
  }
}
