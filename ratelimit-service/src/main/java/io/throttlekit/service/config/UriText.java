package io.throttlekit.service.config;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Texts inside a URI, where some characters are written as {@code %} and two hexadecimal digits.
 */
final class UriText {

  private static final String BARE = "-._~/!$&'()*+,;=";

  private UriText() {}

  /** The text as it may stand in a path, a login or a fragment. */
  static String encode(String text) {
    StringBuilder encoded = new StringBuilder();
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xff);
      if ((c < 0x80 && Character.isLetterOrDigit(c)) || BARE.indexOf(c) >= 0) {
        encoded.append(c);
      } else {
        encoded.append("%%%02X".formatted((int) c));
      }
    }
    return encoded.toString();
  }

  /** What was encoded, or null when it is no such text. */
  static @Nullable String decode(String encoded) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] read = encoded.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < read.length; i++) {
      if (read[i] != '%') {
        bytes.write(read[i]);
      } else {
        int high = i + 2 < read.length ? Character.digit(read[i + 1], 16) : -1;
        int low = i + 2 < read.length ? Character.digit(read[i + 2], 16) : -1;
        if (high < 0 || low < 0) {
          return null;
        }
        bytes.write(high * 16 + low);
        i += 2;
      }
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes.toByteArray()))
          .toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }
}
