package io.throttlekit.redis;

import io.throttlekit.CounterKey;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The Redis keys of counters: a prefix, the version of the format, and the counter's text.
 *
 * <p>In UTF-8, except that an unpaired surrogate is encoded like any other character, so that
 * different counters have different keys.
 */
final class KeyText {
  /** The version of the stored format. */
  static final String VERSION = "tk1:";

  private static final int MAX_BYTES_PER_CHAR = 3; // in UTF-8, per UTF-16 code unit
  private static final byte[] NOTHING = {};
  private static final byte[] HISTORY = ":history".getBytes(StandardCharsets.US_ASCII);

  private final byte[] before;

  /**
   * Creates keys of counters.
   *
   * @param prefix of every key, before the version
   */
  KeyText(String prefix) {
    this(prefix, VERSION);
  }

  KeyText(String prefix, String version) {
    this.before = (prefix + version).getBytes(StandardCharsets.UTF_8);
  }

  byte[] of(CounterKey key) {
    return of(key.toString());
  }

  /** Returns the key with {@code text} after the prefix and the version. */
  byte[] of(String text) {
    return encode(before, text);
  }

  /** Returns the key of the history of an epoch, in the same hash slot. */
  static byte[] historyOf(byte[] epochKey) {
    byte[] key = Arrays.copyOf(epochKey, epochKey.length + HISTORY.length);
    System.arraycopy(HISTORY, 0, key, epochKey.length, HISTORY.length);
    return key;
  }

  /** Encodes a text; different texts have different bytes. */
  static byte[] bytes(String text) {
    return encode(NOTHING, text);
  }

  private static byte[] encode(byte[] before, String text) {
    int length = text.length();
    byte[] bytes = Arrays.copyOf(before, before.length + length);
    int at = before.length;
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        return encodeRest(text, i, bytes, at);
      }
      bytes[at++] = (byte) c;
    }
    return bytes;
  }

  private static byte[] encodeRest(String text, int from, byte[] begun, int begunLength) {
    int length = text.length();
    byte[] bytes = Arrays.copyOf(begun, begunLength + MAX_BYTES_PER_CHAR * (length - from));
    int at = begunLength;
    for (int i = from; i < length; ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      if (c < 0x80) {
        bytes[at++] = (byte) c;
      } else if (c < 0x800) {
        bytes[at++] = (byte) (0xC0 | (c >> 6));
        bytes[at++] = continued(c);
      } else if (c < 0x10000) {
        bytes[at++] = (byte) (0xE0 | (c >> 12));
        bytes[at++] = continued(c >> 6);
        bytes[at++] = continued(c);
      } else {
        bytes[at++] = (byte) (0xF0 | (c >> 18));
        bytes[at++] = continued(c >> 12);
        bytes[at++] = continued(c >> 6);
        bytes[at++] = continued(c);
      }
    }
    return Arrays.copyOf(bytes, at);
  }

  private static byte continued(int bits) {
    return (byte) (0x80 | (bits & 0x3F));
  }
}
