package io.throttlekit.redis;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
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

  /** Returns the key with {@code text} after the prefix and the version. */
  byte[] of(String text) {
    return encode(before, text);
  }

  /** Returns the key of the history of an epoch, in the same hash slot. */
  static byte[] historyOf(byte[] epochKey) {
    return encode(epochKey, ":history");
  }

  /** Returns another key of a counter, in the hash slot of its epoch. */
  static byte[] partOf(byte[] epochKey, String part, String counter) {
    return encode(epochKey, ':' + part + '|' + counter);
  }

  /** Encodes a text; different texts have different bytes. */
  static byte[] bytes(String text) {
    return encode(NOTHING, text);
  }

  private static byte[] encode(byte[] before, String text) {
    int length = text.length();
    byte[] bytes = Arrays.copyOf(before, before.length + length);
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        return encodeUnicode(before, text);
      }
      bytes[before.length + i] = (byte) c;
    }
    return bytes;
  }

  private static byte[] encodeUnicode(byte[] before, String text) {
    ByteBuffer bytes =
        ByteBuffer.allocate(before.length + MAX_BYTES_PER_CHAR * text.length()).put(before);
    CharBuffer chars = CharBuffer.wrap(text);
    CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder();
    while (utf8.encode(chars, bytes, true).isMalformed()) { // stops at an unpaired surrogate
      char c = chars.get();
      bytes.put((byte) (0xE0 | (c >> 12))).put(continued(c >> 6)).put(continued(c));
    }
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  private static byte continued(int bits) {
    return (byte) (0x80 | (bits & 0x3F));
  }
}
