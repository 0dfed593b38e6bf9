package io.throttlekit.service.config;

import java.util.regex.Pattern;

/** Keeps passwords out of what is printed. */
final class Secrets {

  private static final Pattern USER_INFO = Pattern.compile("(?<=://)[^/?#\\s]*@");
  private static final Pattern PARAMETER =
      Pattern.compile("(?i)((?:password|secret|token|key)=)[^&\\s]*");

  private Secrets() {}

  /** The text with what a URL says before its host, and parameters that name secrets, hidden. */
  static String mask(String text) {
    String hidden = USER_INFO.matcher(text).replaceAll("***@");
    return PARAMETER.matcher(hidden).replaceAll("$1***");
  }
}
