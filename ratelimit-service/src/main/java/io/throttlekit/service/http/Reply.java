package io.throttlekit.service.http;

import java.nio.charset.StandardCharsets;

/**
 * An HTTP reply.
 *
 * @param contentType empty when there is no body
 * @param body never changed; several replies may share one array, which then counts once
 * @param lost runs when the caller does not receive the body: it left, or sent HEAD
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, and shared on purpose
record Reply(int status, String contentType, byte[] body, Runnable lost) {
  static final String TEXT = "text/plain; charset=utf-8";
  static final String JSON = "application/json";

  /** Creates a reply whose loss has no consequence. */
  Reply(int status, String contentType, byte[] body) {
    this(status, contentType, body, () -> {});
  }

  static Reply text(int status, String text) {
    return new Reply(status, TEXT, text.getBytes(StandardCharsets.UTF_8));
  }

  static Reply json(int status, String json) {
    return new Reply(status, JSON, json.getBytes(StandardCharsets.UTF_8));
  }

  static Reply empty(int status) {
    return new Reply(status, "", new byte[0]);
  }

  /** Returns the same reply with an action for when the caller does not receive it. */
  Reply orElse(Runnable whenLost) {
    return new Reply(status, contentType, body, whenLost);
  }
}
