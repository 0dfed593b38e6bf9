package io.throttlekit.bench.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArgumentsTest {
  private static final Set<String> KNOWN = Set.of("seconds", "keys");

  @Test
  void parseOperandsAndOptions() {
    Arguments arguments = Arguments.parse(KNOWN, "127.0.0.1:1", "--seconds", "3");
    assertThat(arguments.only("HOST:PORT")).isEqualTo("127.0.0.1:1");
    assertThat(arguments.seconds("seconds", 1, 10)).isEqualTo(Duration.ofSeconds(3));
    assertThat(arguments.integer("keys", 1, 10)).isEqualTo(10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--second", "--help", "-h", "--", "-"})
  void rejectAnUnknownOptionAndNameTheKnownOnes(String option) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Arguments.parse(KNOWN, option, "3"))
        .withMessage("no option " + option + "; there are --keys, --seconds");
  }

  @Test
  void flagsHaveNoValue() {
    Arguments arguments = Arguments.parse(KNOWN, Set.of("json"), "--json", "--keys", "3", "word");
    assertThat(arguments.flag("json")).isTrue();
    assertThat(arguments.flag("seconds")).isFalse();
    assertThat(arguments.words()).containsExactly("word");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Arguments.parse(KNOWN, Set.of("json"), "--xml"))
        .withMessage("no option --xml; there are --json, --keys, --seconds");
  }

  @Test
  void rejectEveryOptionIfNoneIsDefined() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Arguments.parse(Set.of(), "--keys", "3"))
        .withMessage("no option --keys; there are none");
  }

  @Test
  void rejectAnOptionWithoutItsValue() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Arguments.parse(KNOWN, "--seconds"))
        .withMessage("--seconds needs a value");
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "", "1.5", "0", "-1", "3601", "99999999999999999999"})
  void rejectNumbersOutOfRange(String value) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Arguments.parse(KNOWN, "--seconds", value).seconds("seconds", 1, 10))
        .withMessage("--seconds is a number from 1 to 3600, not " + value);
  }

  @Test
  void rejectUnexpectedAndMissingOperands() {
    Arguments two = Arguments.parse(KNOWN, "a", "b");
    assertThatIllegalArgumentException()
        .isThrownBy(two::noWords)
        .withMessage("expected nothing but options, got a b");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> two.only("HOST:PORT"))
        .withMessage("expected one HOST:PORT, got a b");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Arguments.parse(KNOWN).only("HOST:PORT"))
        .withMessage("expected one HOST:PORT, got none");
  }
}
