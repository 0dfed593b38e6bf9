package io.throttlekit.service.log;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the secrets of this process in text of any origin, such as log lines of libraries: as
 * they are, as in a URI and in base64. It also replaces credentials in any URI. Immutable.
 */
public final class Redaction {
  /** A redaction of a process without secrets. */
  public static final Redaction NONE = new Redaction(null);

  /** Text in place of a secret. */
  public static final String HIDDEN = "***";

  /** A shorter secret may be a part of words, which are shown; a whole word is replaced. */
  private static final int MIN_PART_LENGTH = 8;

  private static final Pattern USER_INFO = Pattern.compile("(?<=://)[^/?#\\s]*@");

  private final @Nullable Pattern secrets;

  private Redaction(@Nullable Pattern secrets) {
    this.secrets = secrets;
  }

  /** Returns a redaction of these secrets; empty ones are none. */
  public static Redaction of(Collection<String> secrets) {
    String all =
        secrets.stream()
            .filter(secret -> !secret.isBlank())
            .flatMap(Redaction::forms)
            .distinct()
            // the longest first: one secret may begin with another
            .sorted(Comparator.comparingInt(String::length).reversed())
            .map(Redaction::pattern)
            .collect(Collectors.joining("|"));
    return all.isEmpty() ? NONE : new Redaction(Pattern.compile(all));
  }

  /** Returns the text without secrets. */
  public String of(String text) {
    String hidden = text;
    if (secrets != null) {
      hidden = secrets.matcher(hidden).replaceAll(Matcher.quoteReplacement(HIDDEN));
    }
    return hidden.contains("://")
        ? USER_INFO.matcher(hidden).replaceAll(Matcher.quoteReplacement(HIDDEN + "@"))
        : hidden;
  }

  private static Stream<String> forms(String secret) {
    String encoded = URLEncoder.encode(secret, StandardCharsets.UTF_8);
    byte[] bytes = secret.getBytes(StandardCharsets.UTF_8);
    return Stream.of(
        secret, encoded, encoded.replace("+", "%20"), Base64.getEncoder().encodeToString(bytes));
  }

  private static String pattern(String secret) {
    String quoted = Pattern.quote(secret);
    return secret.length() < MIN_PART_LENGTH
        ? "(?<![\\p{L}\\p{N}])" + quoted + "(?![\\p{L}\\p{N}])"
        : quoted;
  }
}
