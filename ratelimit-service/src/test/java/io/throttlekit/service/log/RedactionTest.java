package io.throttlekit.service.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedactionTest {
  private final Redaction redaction =
      Redaction.of(List.of("", " ", "pw", "pässw0rd/+?", "pässw0rd/+?-longer", "$1\\E"));

  @ParameterizedTest
  @CsvSource({
    "AUTH pässw0rd/+? OK, AUTH *** OK",
    "xpässw0rd/+?x, x***x",
    "pässw0rd/+?-longer, ***",
    "a=p%C3%A4ssw0rd%2F%2B%3F, a=***",
    "Basic cMOkc3N3MHJkLys/, Basic ***",
    "'AUTH pw, pws and upw', 'AUTH ***, pws and upw'",
    "an $1\\E, an ***",
    "PÄSSW0RD, PÄSSW0RD"
  })
  void hidesEverySecretInEveryForm(String text, String shown) {
    assertThat(redaction.of(text)).isEqualTo(shown);
  }

  @ParameterizedTest
  @CsvSource({
    "redis://:secret@h:1, redis://***@h:1",
    "at postgresql://u:p@ss@h/db?x, at postgresql://***@h/db?x",
    "http://h/@me, http://h/@me",
    "user@host, user@host"
  })
  void hidesCredentialsInEveryUri(String text, String shown) {
    assertThat(Redaction.NONE.of(text)).isEqualTo(shown);
    assertThat(redaction.of(text)).isEqualTo(shown);
  }

  @Test
  void returnsTheTextItselfWithoutSecrets() {
    assertThat(Redaction.of(List.of(""))).isSameAs(Redaction.NONE);
    String text = "as it is";
    assertThat(Redaction.NONE.of(text)).isSameAs(text);
  }
}
