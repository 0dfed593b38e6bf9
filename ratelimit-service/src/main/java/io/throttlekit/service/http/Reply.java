package io.throttlekit.service.http;

/**
 * An HTTP answer.
 *
 * @param contentType empty when there is no body
 * @param lost what to do when the caller is not told: it left, or wants no body
 */
record Reply(int status, String contentType, String body, Runnable lost) {
  static final String TEXT = "text/plain; charset=utf-8";
  static final String JSON = "application/json";

  /** An answer that nobody misses. */
  Reply(int status, String contentType, String body) {
    this(status, contentType, body, () -> {});
  }

  static Reply text(int status, String text) {
    return new Reply(status, TEXT, text);
  }

  static Reply json(int status, String json) {
    return new Reply(status, JSON, json);
  }

  static Reply empty(int status) {
    return new Reply(status, "", "");
  }

  /** The same answer; {@code whenLost} is run where the caller is not told. */
  Reply orElse(Runnable whenLost) {
    return new Reply(status, contentType, body, whenLost);
  }
}
