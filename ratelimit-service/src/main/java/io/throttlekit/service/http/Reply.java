package io.throttlekit.service.http;

/**
 * An HTTP answer.
 *
 * @param contentType empty when there is no body
 */
record Reply(int status, String contentType, String body) {
  static final String TEXT = "text/plain; charset=utf-8";
  static final String JSON = "application/json";

  static Reply text(int status, String text) {
    return new Reply(status, TEXT, text);
  }

  static Reply json(int status, String json) {
    return new Reply(status, JSON, json);
  }

  static Reply empty(int status) {
    return new Reply(status, "", "");
  }
}
