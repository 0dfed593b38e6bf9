package io.throttlekit.service.config.load;

import io.throttlekit.service.log.Redaction;
import java.util.regex.Pattern;

/** Masks passwords in printed text. */
final class Secrets {

  /** Text printed in place of a secret. */
  static final String HIDDEN = Redaction.HIDDEN;

  private static final Pattern UP_TO_LAST_AT = Pattern.compile("(?s)^([A-Za-z+.-]*://)?.*@");

  /**
   * Text from a colon that neither belongs to a scheme or an IPv6 address nor precedes a port.
   * After a scheme one slash is enough: a user's name does not begin with one, and what follows is
   * a path.
   */
  private static final Pattern NO_PORT =
      Pattern.compile(
          "(?s)((?<=//):|:(?!//|(?<=^(?i:rediss?(?:-[a-z]{1,20})?|unix|file):)/"
              + "|[0-9]{1,5}(?:[,/#?]|$)|[0-9A-Fa-f:.]*\\])).*");

  // Names that PostgreSQL, Redis clients and HTTP APIs use for secrets.
  private static final Pattern PARAMETER =
      Pattern.compile("(?i)((?:password|secret|token|key)=)[^&\\s]*");

  private Secrets() {}

  /** Replaces a text that is a secret; an empty one is none. */
  static String hide(String text) {
    return text.isEmpty() ? text : HIDDEN;
  }

  /** Masks the user information of URLs, and parameters whose names denote secrets. */
  static String mask(String text) {
    return PARAMETER.matcher(Redaction.NONE.of(text)).replaceAll("$1" + HIDDEN);
  }

  /**
   * Masks everything that could be a password in a text that was meant as the URI of a store,
   * however misspelt the rest is.
   */
  static String maskStore(String text) {
    String hidden = UP_TO_LAST_AT.matcher(text).replaceFirst("$1" + HIDDEN + "@");
    return PARAMETER
        .matcher(NO_PORT.matcher(hidden).replaceFirst(":" + HIDDEN))
        .replaceAll("$1" + HIDDEN);
  }
}
