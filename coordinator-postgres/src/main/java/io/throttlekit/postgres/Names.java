package io.throttlekit.postgres;

import io.throttlekit.CounterKey;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * What rows are named by: a SHA-256, because an index takes no long texts and a text no zeros. It
 * is over the characters of the counter's text, two bytes each, the upper first.
 */
final class Names {
  private Names() {}

  static byte[] of(CounterKey key) {
    return of(key.toString());
  }

  /** Of several texts, so that different lists have different names. */
  static byte[] of(String first, String second) {
    return of(first.length() + ":" + first + second);
  }

  static byte[] of(String text) {
    byte[] bytes = new byte[2 * text.length()];
    for (int i = 0; i < text.length(); i++) {
      bytes[2 * i] = (byte) (text.charAt(i) >> 8);
      bytes[2 * i + 1] = (byte) text.charAt(i);
    }
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
