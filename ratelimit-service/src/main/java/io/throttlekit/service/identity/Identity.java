package io.throttlekit.service.identity;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Pattern for names of client certificates: one DNS name or URI, all URIs below {@code
 * spiffe://…/*}, or all DNS names below {@code *.mesh.local}.
 *
 * @param pattern as it is written
 */
public record Identity(String pattern) {
  // No commas: the setting separates patterns by them.
  private static final Pattern DNS = Pattern.compile("(\\*\\.)?[0-9A-Za-z_-]+(\\.[0-9A-Za-z_-]+)*");
  private static final Pattern URI =
      Pattern.compile("[a-z][a-z0-9+.-]*://[!-~&&[^*,]]+|spiffe://[!-~&&[^*,]]+/\\*");

  private static final Pattern SEPARATORS = Pattern.compile("[/#]");
  private static final Pattern DOT_SEGMENT = Pattern.compile("(?i)(\\.|%2e){1,2}");

  /** Parses a pattern; null where the text is none. */
  public static @Nullable Identity parse(String text) {
    boolean valid = DNS.matcher(text).matches() || URI.matcher(text).matches();
    return valid && !hasDotSegment(text) ? new Identity(text) : null;
  }

  /**
   * Returns whether a segment of a path is {@code .} or {@code ..}, also percent-encoded: a reader
   * that resolves it (RFC 3986 §5.2.4) sees another name.
   */
  static boolean hasDotSegment(String name) {
    return SEPARATORS.splitAsStream(name).anyMatch(each -> DOT_SEGMENT.matcher(each).matches());
  }

  /**
   * Returns whether a name of a certificate matches. DNS names are compared without regard to case.
   * A URI with a dot segment is below no other.
   *
   * @param uri whether the name is a URI, and not a DNS name
   */
  public boolean includes(String name, boolean uri) {
    if (uri != pattern.contains("://")) {
      return false;
    }
    if (uri) {
      return pattern.endsWith("/*")
          ? name.startsWith(pattern.substring(0, pattern.length() - 1)) && !hasDotSegment(name)
          : name.equals(pattern);
    }
    // The comparison of lengths keeps *.a.b from matching .a.b.
    return pattern.startsWith("*.")
        ? name.length() > pattern.length() - 1 && endsWith(name, pattern.substring(1))
        : name.equalsIgnoreCase(pattern);
  }

  private static boolean endsWith(String name, String suffix) {
    return name.regionMatches(true, name.length() - suffix.length(), suffix, 0, suffix.length());
  }
}
