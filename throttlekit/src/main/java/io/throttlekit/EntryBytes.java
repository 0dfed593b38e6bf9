package io.throttlekit;

/**
 * An encoding of texts as one byte array. Different lists of texts have different bytes.
 *
 * <p>Each text is preceded by a variable-length number (7 bits per byte, lowest first; the eighth
 * bit is set if more follow): twice the length in characters, plus 1 if each character takes two
 * bytes because one of them does not fit into one. The encoding is lossless, even for unpaired
 * surrogates.
 */
final class EntryBytes {
  private static final int LARGEST_NARROW = 0xFF; // the last character that fits into one byte
  private static final int NUMBER_BITS = 7;
  private static final int NUMBER_MASK = 0x7F;
  private static final int MORE = 0x80; // more bytes of the number follow

  private EntryBytes() {}

  static byte[] encode(String[] texts) {
    int size = 0;
    for (String text : texts) {
      size += sizeOfNumber(text.length() << 1) + text.length();
    }
    byte[] bytes = new byte[size]; // exact if no text is wide, the common case
    int at = 0;
    for (String text : texts) {
      int length = text.length();
      at = putNumber(length << 1, bytes, at);
      for (int i = 0; i < length; i++) {
        char c = text.charAt(i);
        if (c > LARGEST_NARROW) {
          return encodeSomeWide(texts);
        }
        bytes[at++] = (byte) c;
      }
    }
    return bytes;
  }

  /**
   * Appends the texts from {@code from} on, each preceded by its length in characters. If the bytes
   * were cut, the last text is shorter than its length.
   */
  static void append(byte[] bytes, int from, StringBuilder out) {
    int at = from;
    while (at < bytes.length) {
      int number = 0;
      int part = MORE;
      for (int shift = 0; part >= MORE && at < bytes.length; shift += NUMBER_BITS) {
        part = bytes[at++] & 0xFF;
        number |= (part & NUMBER_MASK) << shift;
      }
      if (part >= MORE) {
        return; // cut within the length, so the length is unknown
      }
      boolean wide = (number & 1) != 0;
      int length = number >>> 1;
      out.append('|').append(length).append(':');
      // A long: the length of a cut text is not checked, and twice it can overflow.
      int end = (int) Math.min(bytes.length, at + (long) length * (wide ? 2 : 1));
      at = wide ? appendWide(bytes, at, end, out) : appendNarrow(bytes, at, end, out);
    }
  }

  private static int appendNarrow(byte[] bytes, int from, int end, StringBuilder out) {
    for (int at = from; at < end; at++) {
      out.append((char) (bytes[at] & 0xFF));
    }
    return end;
  }

  private static int appendWide(byte[] bytes, int from, int end, StringBuilder out) {
    for (int at = from; at + 1 < end; at += 2) {
      out.append((char) ((bytes[at] & 0xFF) << 8 | (bytes[at + 1] & 0xFF)));
    }
    return end;
  }

  private static byte[] encodeSomeWide(String[] texts) {
    int size = 0;
    for (String text : texts) {
      size += sizeOfNumber(number(text)) + text.length() * (isWide(text) ? 2 : 1);
    }
    byte[] bytes = new byte[size];
    int at = 0;
    for (String text : texts) {
      at = putNumber(number(text), bytes, at);
      boolean wide = isWide(text);
      for (int i = 0; i < text.length(); i++) {
        if (wide) {
          bytes[at++] = (byte) (text.charAt(i) >> 8);
        }
        bytes[at++] = (byte) text.charAt(i);
      }
    }
    return bytes;
  }

  private static boolean isWide(String text) {
    return text.chars().anyMatch(c -> c > LARGEST_NARROW);
  }

  private static int number(String text) {
    return text.length() << 1 | (isWide(text) ? 1 : 0);
  }

  private static int sizeOfNumber(int number) {
    int size = 1;
    for (int rest = number >>> NUMBER_BITS; rest != 0; rest >>>= NUMBER_BITS) {
      size++;
    }
    return size;
  }

  private static int putNumber(int number, byte[] bytes, int at) {
    int next = at;
    int rest = number;
    for (; rest > NUMBER_MASK; rest >>>= NUMBER_BITS) {
      bytes[next++] = (byte) (rest | MORE);
    }
    bytes[next++] = (byte) rest;
    return next;
  }
}
