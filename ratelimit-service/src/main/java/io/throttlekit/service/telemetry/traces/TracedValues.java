package io.throttlekit.service.telemetry.traces;

import io.throttlekit.CounterKey;
import io.throttlekit.service.log.DescriptorText;
import io.throttlekit.service.log.PrintableText;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * How spans name the values of requests: as they are, within bounds, or hashed. All processes hash
 * a text alike, so spans of one counter can be found without its values.
 *
 * @param plain whether values are shown
 */
public record TracedValues(boolean plain) {
  /** Values as they are. */
  public static final TracedValues PLAIN = new TracedValues(true);

  private static final int HASH_BYTES = 8; // shown: enough to distinguish the counters of a trace

  /** Returns the name of a counter. */
  public String of(CounterKey counter) {
    String text = counter.toString();
    return plain ? PrintableText.of(text) : hash(text);
  }

  /** Returns a value of a request. */
  public String of(String value) {
    return plain ? DescriptorText.shown(value, DescriptorText.MAX_SHOWN) : hash(value);
  }

  private static String hash(String text) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, HASH_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
