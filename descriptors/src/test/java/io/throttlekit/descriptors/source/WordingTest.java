package io.throttlekit.descriptors.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WordingTest {
  private static final List<String> KEYS =
      List.of("requests_per_unit", "unit", "rate_limit", "name", "value");

  @ParameterizedTest
  @CsvSource({
    "requestsPerUnit, requests_per_unit",
    "requests-per-unit, requests_per_unit",
    "request_per_units, requests_per_unit",
    "RateLimit, rate_limit",
    "nmae, name",
    "unti, unit",
    "vaule, value"
  })
  void findsTheNearestKey(String written, String meant) {
    assertThat(Wording.nearest(written, KEYS)).isEqualTo(meant);
  }

  @ParameterizedTest
  @CsvSource({"colour", "x", "''", "per"})
  void suggestsNothingForADissimilarKey(String written) {
    assertThat(Wording.nearest(written, KEYS)).isNull();
    assertThat(Wording.suggest(written, KEYS)).startsWith("allowed: requests_per_unit, unit");
  }

  @Test
  void quotesOnOneShortLine() {
    assertThat(Wording.quote("a\nb\u0007")).isEqualTo("`a\\u000ab\\u0007`");
    assertThat(Wording.quote("x".repeat(1_000_000))).hasSize(63).endsWith("…`");
    assertThat(Wording.nearest("x".repeat(1_000_000), KEYS)).isNull();
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource({
    "'unit\u200b', '`unit\\u200b`'",
    "'a\u00a0b', '`a\\u00a0b`'",
    "'\u202eday', '`\\u202eday`'",
    "'\u2028', '`\\u2028`'",
    "'\u3000', '`\\u3000`'",
    "'\ud83d', '`\\ud83d`'",
    "'\ue000', '`\\ue000`'",
    "'\udb40\udc41', '`\\U000e0041`'",
    "'\u0301a', '`\\u0301a`'",
    "'e\u0301', '`e\u0301`'",
    "'a\ufe0f', '`a\\ufe0f`'",
    "'\u3164', '`\\u3164`'",
    "'größe 日本 \ud83d\ude00', '`größe 日本 \ud83d\ude00`'"
  })
  void escapesInvisibleCharacters(String text, String quoted) {
    assertThat(Wording.quote(text)).isEqualTo(quoted);
  }

  @Test
  void truncatesByCodePoints() {
    String sixty = "\ud83d\ude00".repeat(60);
    assertThat(Wording.quote(sixty)).isEqualTo("`" + sixty + "`");
    assertThat(Wording.quote(sixty + "x")).isEqualTo("`" + sixty + "…`");
  }
}
