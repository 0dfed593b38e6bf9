package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GoDurationTest {

  @ParameterizedTest
  @CsvSource({
    "0, PT0S",
    "0s, PT0S",
    "10s, PT10S",
    "150us, PT0.00015S",
    "150µs, PT0.00015S",
    "1h30m, PT1H30M",
    "1.5h, PT1H30M",
    ".5s, PT0.5S",
    "+2ms, PT0.002S",
    "24h, PT24H",
    "3ns, PT0.000000003S"
  })
  void readsDurationsLikeGo(String text, Duration expected) {
    assertThat(GoDuration.parse(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "10",
        "s",
        "10 s",
        "-1s",
        "1d",
        "1s2",
        "1S",
        "PT1S",
        "1e3s",
        "1..5s",
        ".s",
        "++1s",
        "99999999999h",
        "1s ",
        "0x1s",
        "١s"
      })
  void rejectsMalformedAndOverlongDurations(String text) {
    assertThat(GoDuration.parse(text)).isNull();
  }

  @Test
  void roundTripsWithSeed7() {
    RandomGenerator random = new SplittableRandom(7);
    for (int i = 0; i < 1_000; i++) {
      Duration duration = Duration.ofNanos(random.nextLong(1L << random.nextInt(1, 62)));
      assertThat(GoDuration.parse(GoDuration.format(duration))).isEqualTo(duration);
    }
  }
}
