package io.throttlekit.descriptors.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WindowTextTest {

  @ParameterizedTest
  @CsvSource({
    "1ms, 1",
    "250MS, 250",
    "10s, 10000",
    "1m30s, 90000",
    "2h, 7200000",
    "7d, 604800000",
    "1d2h3m4s5ms, 93784005",
    "5m5ms, 300005",
    "999999999999d, 9223372036854775807"
  })
  void readsCombinationsFromLargeToSmall(String text, long millis) {
    assertThat(WindowText.millis(text)).isEqualTo(millis);
  }

  @ParameterizedTest
  @CsvSource({"0s", "10", "''", "s", "1s1m", "-1s", "1.5s", "1 s", "2w", "1ms1s", "9999999999999s"})
  void returnsZeroForAMalformedDuration(String text) {
    assertThat(WindowText.millis(text)).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "0, true",
    "0s, true",
    "00MS, true",
    "0d, true",
    "'', false",
    "s, false",
    "10, false"
  })
  void distinguishesAZeroDurationFromAMalformedOne(String text, boolean zero) {
    assertThat(WindowText.isZero(text)).isEqualTo(zero);
  }
}
