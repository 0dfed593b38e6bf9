package io.throttlekit.descriptors.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScalarKindTest {

  @ParameterizedTest
  @CsvSource({
    "~, NULL",
    "null, NULL",
    "NULL, NULL",
    "nUll, TEXT",
    "y, BOOL",
    "YES, BOOL",
    "On, BOOL",
    "off, BOOL",
    "n, BOOL",
    "tRue, TEXT",
    "oN, TEXT",
    "0, INTEGER",
    "-5, INTEGER",
    "+5, INTEGER",
    "0x1f, INTEGER",
    "0b101, INTEGER",
    "017, INTEGER",
    "0o17, INTEGER",
    "1_000, INTEGER",
    "-0x1, INTEGER",
    "09, FLOAT",
    "1., FLOAT",
    ".5, FLOAT",
    "1e3, FLOAT",
    "-1.5E-3, FLOAT",
    ".inf, FLOAT",
    "-.INF, FLOAT",
    ".NaN, FLOAT",
    "1_0.5, FLOAT",
    "1.2.3, TEXT",
    "0x, TEXT",
    "0xg, TEXT",
    "-, TEXT",
    "+, TEXT",
    ".5.5, TEXT",
    "1e, TEXT",
    "10.0.0.1, TEXT",
    "2026-11-21, TEXT",
    "inf, TEXT",
    "<<, MERGE"
  })
  void readsUnquotedTextAsYaml11Does(String text, ScalarKind kind) {
    assertThat(ScalarKind.ofPlain(text)).isEqualTo(kind);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "-5, -5",
    "+5, 5",
    "0x1F, 31",
    "-0x1f, -31",
    "0b101, 5",
    "017, 15",
    "0o17, 15",
    "1_000, 1000",
    "00, 0"
  })
  void valuesIntegersOfEveryBase(String text, long value) {
    assertThat(ScalarKind.integer(text)).isEqualTo(BigInteger.valueOf(value));
  }

  @ParameterizedTest
  @ValueSource(ints = {101, 1_000_000})
  void doesNotComputeAbsurdlyLongIntegers(int digits) {
    assertThat(ScalarKind.integer("9".repeat(digits))).isNull();
  }
}
