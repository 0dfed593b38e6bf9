package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.throttlekit.service.log.PrintableText;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of one set of rate limit statistics.
 *
 * @param domain as a label value
 * @param keys one {@code k} or {@code k_v} per level of the descriptor, as label values
 */
record SeriesName(String domain, List<String> keys) {
  static final AttributeKey<String> DOMAIN = AttributeKey.stringKey("domain");
  private static final AttributeKey<String> KEY1 = AttributeKey.stringKey("key1");
  private static final AttributeKey<String> KEY2 = AttributeKey.stringKey("key2");

  /** The series for names beyond the maximum. */
  static final String OTHER = "other";

  /**
   * Maximum number of levels in a name: a request with its own limit may have any number of
   * entries.
   */
  static final int MAX_KEYS = 16;

  /** Longest label value, in chars; bounds the memory of a series. */
  static final int MAX_LENGTH = 256;

  private static final String OCTET = "(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)";
  private static final Pattern IPV4 = Pattern.compile("(?:" + OCTET + "\\.){3}" + OCTET);

  static SeriesName of(String domain, List<String> metricKeys) {
    return new SeriesName(
        text(domain), metricKeys.stream().limit(MAX_KEYS).map(SeriesName::text).toList());
  }

  static SeriesName otherOf(String domain) {
    return new SeriesName(text(domain), List.of(OTHER));
  }

  /** Returns the number of characters. */
  int length() {
    return domain.length() + keys.stream().mapToInt(String::length).sum();
  }

  /** Returns the labels of the series; levels below the second share those of the second. */
  Attributes labels() {
    AttributesBuilder labels = Attributes.builder().put(DOMAIN, domain);
    if (!keys.isEmpty()) {
      labels.put(KEY1, keys.get(0));
    }
    if (keys.size() > 1) {
      labels.put(KEY2, keys.get(1));
    }
    return labels.build();
  }

  /** Returns {@code domain.key1_value1.key2}, as envoyproxy/ratelimit names it for statsd. */
  String dotted() {
    return keys.isEmpty() ? domain : domain + "." + String.join(".", keys);
  }

  /**
   * Converts text of requests and policies to a label value: {@code :}, {@code |} and the dots of
   * IPv4 addresses become {@code _}, as in envoyproxy/ratelimit, long text is cut, and what is not
   * printable is replaced, so that no value can forge a statistic.
   */
  static String text(String text) {
    String kept = text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH);
    String plain = PrintableText.of(kept).replace(':', '_').replace('|', '_');
    return plain.indexOf('.') < 0
        ? plain
        : IPV4.matcher(plain)
            .replaceAll(address -> Matcher.quoteReplacement(address.group().replace('.', '_')));
  }
}
