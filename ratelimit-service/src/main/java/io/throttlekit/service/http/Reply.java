package io.throttlekit.service.http;

import java.nio.charset.StandardCharsets;

/**
 * An HTTP answer.
 *
 * @param contentType empty when there is no body
 * @param body owned, not copied
 */
record Reply(int status, String contentType, byte[] body) {
  static final String TEXT = "text/plain; charset=utf-8";
  static final String JSON = "application/json";

  static Reply text(int status, String text) {
    return new Reply(status, TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  static Reply json(int status, String json) {
    return new Reply(status, JSON, json.getBytes(StandardCharsets.UTF_8));
  }

  static Reply empty(int status) {
    return new Reply(status, "", new byte[0]);
  }
}
