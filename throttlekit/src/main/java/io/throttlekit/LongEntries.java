package io.throttlekit;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;

/**
 * The short form of entries that take more than {@value #MAX_BYTES} bytes: a marker byte, their
 * SHA-256 and their first {@value #READABLE_BYTES} bytes.
 *
 * <p>All 256 bits of the hash are kept, so different entries have different short forms, even if a
 * client chooses them: a collision costs 2^128 hashes. Every process computes the same short form
 * without a secret, see docs/adr/0009-long-keys-are-hashed.md.
 */
final class LongEntries {
  /** The longest entries that are kept unchanged. */
  static final int MAX_BYTES = 128;

  private static final int READABLE_BYTES = 64; // so that operators can recognize a key
  private static final int HASH_BYTES = 32; // SHA-256
  private static final int READABLE_FROM = 1 + HASH_BYTES;

  /** The encoding of an empty wide text, with which {@link EntryBytes} never begins. */
  private static final byte MARK = 1;

  private static final char SEPARATOR = '~';
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  private LongEntries() {}

  /** Returns whether {@code entries} are a short form. */
  static boolean areShort(byte[] entries) {
    return entries.length > 0 && entries[0] == MARK;
  }

  /**
   * Appends a short form between separators: the beginning of the entries, then the hash. No text
   * of entries begins with the separator, so none can imitate it.
   */
  static void append(byte[] shortForm, StringBuilder text) {
    text.append(SEPARATOR);
    EntryBytes.append(shortForm, READABLE_FROM, text);
    byte[] hash = Arrays.copyOfRange(shortForm, 1, READABLE_FROM);
    text.append(SEPARATOR).append(BASE64.encodeToString(hash));
  }

  /** Returns the short form of entries that are longer than {@link #MAX_BYTES}. */
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
}
