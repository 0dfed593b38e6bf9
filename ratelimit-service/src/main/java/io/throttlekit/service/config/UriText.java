package io.throttlekit.service.config;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Percent-encoding of texts inside a URI. */
final class UriText {

  // RFC 3986's unreserved characters and sub-delimiters, and the slash
  private static final String BARE = "-._~/!$&'()*+,;=";

  private UriText() {}

  /** Encodes a text for a path, a login or a fragment. */
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

  /** Decodes a text; null when it is malformed. */
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
