package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import java.util.List;

/**
 * What one set of rate-limit statistics is about.
 *
 * @param domain as label values show it
 * @param keys one {@code k} or {@code k_v} per level of the descriptor, as label values show them
 */
record SeriesName(String domain, List<String> keys) {
  static final AttributeKey<String> DOMAIN = AttributeKey.stringKey("domain");
  private static final AttributeKey<String> KEY1 = AttributeKey.stringKey("key1");
  private static final AttributeKey<String> KEY2 = AttributeKey.stringKey("key2");

  /** The name under which too many names are gathered. */
  static final String OTHER = "other";

  /** Levels that a name shows: a request may bring its own limit with any number of entries. */
  static final int MAX_KEYS = 16;

  static SeriesName of(String domain, List<String> metricKeys) {
    return new SeriesName(
        LabelText.of(domain), metricKeys.stream().limit(MAX_KEYS).map(LabelText::of).toList());
  }

  static SeriesName otherOf(String domain) {
    return new SeriesName(LabelText.of(domain), List.of(OTHER));
  }

  /** Returns how many characters it has. */
  int length() {
    int length = domain.length();
    for (String key : keys) {
      length += key.length();
    }
    return length;
  }

  /** The labels it is scraped with: levels below the second share those of the second. */
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

  /** {@code domain.key1_value1.key2}, as envoyproxy/ratelimit names it to statsd. */
  String dotted() {
    return keys.isEmpty() ? domain : domain + "." + String.join(".", keys);
  }
}
