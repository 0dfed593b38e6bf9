package io.throttlekit.postgres;

import io.throttlekit.CounterKey;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The names of rows: a SHA-256, because an index entry has a maximum length and a text must not
 * contain NUL. Computed from the characters of the counter's text, as two bytes each, high byte
 * first.
 */
final class Names {
  private Names() {}

  static byte[] of(CounterKey key) {
    return of(key.toString());
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
