package io.throttlekit;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;

/**
 * The identity of one counter: a scope (domain, algorithm and window length, as one text) and the
 * charged descriptor entries.
 *
 * <p>Neither the limit nor the rule object is part of it, so a reload that changes a limit keeps
 * the count. Entries are separated, so {@code a_b, c} and {@code a, b_c} are different counters.
 * Keys are comparable, so a hash map stays fast under values chosen to have equal hash codes.
 * Immutable and thread-safe.
 *
 * <p>Entries that take more than 128 bytes with their lengths (one byte per character up to U+00FF,
 * two in a text with others) are kept as their first 64 bytes and a SHA-256 of all. A client that
 * sends long values cannot make a process or store keep more.
 *
 * <p>Every process hashes with a secret of its own, so clients cannot choose values that collide.
 */
public final class CounterKey implements Comparable<CounterKey> {
  /*
   * The encoding of entries as one byte array; different lists of texts have different bytes. Each
   * text is preceded by a variable-length number (7 bits per byte, lowest first; the eighth bit is
   * set if more follow): twice the length in characters, plus 1 if each character takes two bytes
   * because one of them does not fit into one. The encoding is lossless, even for unpaired
   * surrogates.
   *
   * Texts that take more than MAX_BYTES have a short form instead: a marker byte, the SHA-256 of
   * their bytes, and the first READABLE_BYTES of these. All 256 bits of the hash are kept, so
   * different texts have different short forms, even if a client chooses them: a collision costs
   * 2^128 hashes. Every process computes the same short form without a secret, see
   * docs/adr/0009-long-keys-are-hashed.md.
   */
  private static final int MAX_NARROW = 0xFF; // the last character that fits into one byte
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

  private static final long SECRET_0 = new SecureRandom().nextLong();
  private static final long SECRET_1 = new SecureRandom().nextLong();

  private final String scope;
  private final byte[] entries;
  private final long lowHash;
  private final long highHash;

  private CounterKey(String scope, byte[] entries, long lowHash, long highHash) {
    this.scope = scope;
    this.entries = entries;
    this.lowHash = lowHash;
    this.highHash = highHash;
  }

  /**
   * Creates a key from alternating entry keys and values.
   *
   * @param scope domain, algorithm and window length in a text that no other combination yields
   * @param entries key, value, key, value …
   */
  public static CounterKey of(String scope, String... entries) {
    byte[] all = encode(entries);
    byte[] encoded = all.length <= MAX_BYTES ? all : shortened(all);
    SipHash hash = new SipHash(SECRET_0, SECRET_1, 1, 3, encoded); // SipHash-1-3, as in hash tables
    return new CounterKey(scope, encoded, hash.low(), hash.high());
  }

  /** Returns a key with the same entries in another scope. */
  public CounterKey inScope(String other) {
    return new CounterKey(other, entries, lowHash, highHash);
  }

  /** Returns domain, algorithm and window length. */
  public String scope() {
    return scope;
  }

  /**
   * Returns the lower half of a 128-bit hash of the entries, which is unique among the counters of
   * a scope.
   */
  public long lowHash() {
    return lowHash;
  }

  /** Returns the upper half of that hash. */
  public long highHash() {
    return highHash;
  }

  /** Compares by scope, then by entries; consistent with equals. */
  @Override
  public int compareTo(CounterKey that) {
    int byScope = scope.compareTo(that.scope);
    return byScope != 0 ? byScope : Arrays.compare(entries, that.entries);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CounterKey that
        && lowHash == that.lowHash
        && scope.equals(that.scope)
        && Arrays.equals(entries, that.entries);
  }

  @Override
  public int hashCode() {
    return (int) (lowHash >>> Integer.SIZE) ^ scope.hashCode();
  }

  /**
   * Returns scope and entries, each text preceded by its length, so that different keys differ.
   * Long entries are represented by their beginning and a hash.
   */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(scope);
    append(entries, text);
    return text.toString();
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
        if (c > MAX_NARROW) {
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
  private static void append(byte[] bytes, StringBuilder out) {
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
      int width = wide ? 2 : 1;
      int length = number >>> 1;
      out.append('|').append(length).append(':');
      // A long: the length of a cut text is not checked, and twice it can overflow.
      int end = (int) Math.min(bytes.length, at + (long) length * width);
      for (; at + width <= end; at += width) { // a cut text may end within a character
        int first = bytes[at] & 0xFF;
        out.append((char) (wide ? first << Byte.SIZE | (bytes[at + 1] & 0xFF) : first));
      }
      at = end;
    }
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
    return text.chars().anyMatch(c -> c > MAX_NARROW);
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
