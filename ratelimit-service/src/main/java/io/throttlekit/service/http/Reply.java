package io.throttlekit.service.http;

import java.nio.charset.StandardCharsets;

/**
 * An HTTP answer.
 *
 * @param contentType empty when there is no body
 * @param body never changed; several replies may share one array, which then counts once
 * @param lost what to do when the caller does not receive it: it left, or wants no body
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody, and shared on purpose
record Reply(int status, String contentType, byte[] body, Runnable lost) {
  static final String TEXT = "text/plain; charset=utf-8";
  static final String JSON = "application/json";

  /** An answer whose loss has no consequence. */
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

  /** The same answer; {@code whenLost} runs when the caller does not receive it. */
  Reply orElse(Runnable whenLost) {
    return new Reply(status, contentType, body, whenLost);
  }
}
