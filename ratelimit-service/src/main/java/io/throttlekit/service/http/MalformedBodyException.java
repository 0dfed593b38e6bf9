package io.throttlekit.service.http;

/**
 * Signals a body that is not a rate-limit request in JSON, or not acceptable. Its message is for
 * the caller.
 */
class MalformedBodyException extends Exception {
  private static final long serialVersionUID = 1L;

  MalformedBodyException(String message) {
    super(message);
  }

  MalformedBodyException(Throwable cause) {
    super("the body is not the JSON of a rate-limit request", cause);
  }
}
