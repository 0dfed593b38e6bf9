package io.throttlekit.service.config;

import java.util.regex.Pattern;

/** Keeps passwords out of what is printed. */
final class Secrets {

  /** What is printed in place of a secret. */
  static final String HIDDEN = "***";

  private static final Pattern USER_INFO = Pattern.compile("(?<=://)[^/?#\\s]*@");
  private static final Pattern UP_TO_LAST_AT = Pattern.compile("(?s)^([A-Za-z+.-]*://)?.*@");

  /**
   * From a colon that neither belongs to a scheme or an IPv6 address nor stands before a port.
   * After a scheme one slash is enough: no name of a user is like one, and what follows is a path.
   */
  private static final Pattern NO_PORT =
      Pattern.compile(
          "(?s)((?<=//):|:(?!//|(?<=^(?i:rediss?(?:-[a-z]{1,20})?|unix|file):)/"
              + "|[0-9]{1,5}(?:[,/#?]|$)|[0-9A-Fa-f:.]*\\])).*");

  private static final Pattern PARAMETER =
      Pattern.compile("(?i)((?:password|secret|token|key)=)[^&\\s]*");

  private Secrets() {}

  /** The text with what a URL says before its host, and parameters that name secrets, hidden. */
  static String mask(String text) {
    String hidden = USER_INFO.matcher(text).replaceAll(HIDDEN + "@");
    return PARAMETER.matcher(hidden).replaceAll("$1" + HIDDEN);
  }

  /**
   * The text of somebody who meant to write the URI of a store, with everything hidden that could
   * be a password, however misspelt the rest is.
   */
  static String maskStore(String text) {
    String hidden = UP_TO_LAST_AT.matcher(text).replaceFirst("$1" + HIDDEN + "@");
    return PARAMETER
        .matcher(NO_PORT.matcher(hidden).replaceFirst(":" + HIDDEN))
        .replaceAll("$1" + HIDDEN);
  }
}
