package io.throttlekit;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;

/**
 * An encoding of texts as one byte array. Different lists of texts have different bytes.
 *
 * <p>Each text is preceded by a variable-length number (7 bits per byte, lowest first; the eighth
 * bit is set if more follow): twice the length in characters, plus 1 if each character takes two
 * bytes because one of them does not fit into one. The encoding is lossless, even for unpaired
 * surrogates.
 *
 * <p>Texts that take more than {@value #MAX_BYTES} bytes have a short form instead: a marker byte,
 * the SHA-256 of their bytes, and the first {@value #READABLE_BYTES} of these. All 256 bits of the
 * hash are kept, so different texts have different short forms, even if a client chooses them: a
 * collision costs 2^128 hashes. Every process computes the same short form without a secret, see
 * docs/adr/0009-long-keys-are-hashed.md.
 */
final class EntryBytes {
  private static final int LARGEST_NARROW = 0xFF; // the last character that fits into one byte
  private static final int NUMBER_BITS = 7;
  private static final int NUMBER_MASK = 0x7F;
  private static final int MORE = 0x80; // more bytes of the number follow

  /** The longest encoding that is kept unchanged. */
  static final int MAX_BYTES = 128;

  private static final int READABLE_BYTES = 64; // so that operators can recognize a key
  private static final int HASH_BYTES = 32; // SHA-256
  private static final int READABLE_FROM = 1 + HASH_BYTES;

  /** The first byte of a short form: an empty wide text, with which no encoding begins. */
  private static final byte MARK = 1;

  private static final char SEPARATOR = '~';
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  private EntryBytes() {}

  /** Returns the encoding of the texts, or its short form if it is too long. */
  static byte[] of(String[] texts) {
    byte[] all = encode(texts);
    return all.length <= MAX_BYTES ? all : shortened(all);
  }

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
   * Appends the texts, each preceded by its length. Of a short form it appends, between separators,
   * the beginning of the texts, then the hash; no encoding begins with the separator, so none can
   * imitate it.
   */
  static void append(byte[] bytes, StringBuilder out) {
    if (!isShort(bytes)) {
      append(bytes, 0, out);
      return;
    }
    out.append(SEPARATOR);
    append(bytes, READABLE_FROM, out);
    byte[] hash = Arrays.copyOfRange(bytes, 1, READABLE_FROM);
    out.append(SEPARATOR).append(BASE64.encodeToString(hash));
  }

  /** Returns whether {@code bytes} are a short form. */
  static boolean isShort(byte[] bytes) {
    return bytes.length > 0 && bytes[0] == MARK;
  }

  /** Returns the short form of an encoding that is longer than {@link #MAX_BYTES}. */
  static byte[] shortened(byte[] encoded) {
    byte[] form = new byte[READABLE_FROM + READABLE_BYTES];
    form[0] = MARK;
    System.arraycopy(sha256(encoded), 0, form, 1, HASH_BYTES);
    System.arraycopy(encoded, 0, form, READABLE_FROM, READABLE_BYTES);
    return form;
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /**
   * Appends the texts from {@code from} on, each preceded by its length in characters. If the bytes
   * were cut, the last text is shorter than its length.
   */
  private static void append(byte[] bytes, int from, StringBuilder out) {
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
