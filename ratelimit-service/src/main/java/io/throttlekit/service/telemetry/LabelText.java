package io.throttlekit.service.telemetry;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Converts text of requests and policies to label values: {@code :}, {@code |} and the dots of IPv4
 * addresses become {@code _}, as in envoyproxy/ratelimit, and long text is cut.
 */
final class LabelText {
  /** Longest label value, in chars; bounds the memory of a series. */
  static final int MAX_LENGTH = 256;

  private static final String OCTET = "(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)";
  private static final Pattern IPV4 = Pattern.compile("(?:" + OCTET + "\\.){3}" + OCTET);

  private LabelText() {}

  static String of(String text) {
    String kept = text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH);
    String plain = kept.replace(':', '_').replace('|', '_');
    return plain.indexOf('.') < 0
        ? plain
        : IPV4.matcher(plain)
            .replaceAll(address -> Matcher.quoteReplacement(dotless(address.group())));
  }

  private static String dotless(String address) {
    return address.replace('.', '_');
  }
}
