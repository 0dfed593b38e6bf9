package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import java.util.List;

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

  static SeriesName of(String domain, List<String> metricKeys) {
    return new SeriesName(
        LabelText.of(domain), metricKeys.stream().limit(MAX_KEYS).map(LabelText::of).toList());
  }

  static SeriesName otherOf(String domain) {
    return new SeriesName(LabelText.of(domain), List.of(OTHER));
  }

  /** Returns the number of characters. */
  int length() {
    int length = domain.length();
    for (String key : keys) {
      length += key.length();
    }
    return length;
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
}
