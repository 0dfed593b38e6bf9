package io.throttlekit.service.http;

/** A body that is not the JSON of a rate-limit request. */
final class MalformedBodyException extends Exception {
  private static final long serialVersionUID = 1L;

  MalformedBodyException(String message) {
    super(message);
  }

  MalformedBodyException(Throwable cause) {
    super(cause);
  }
}
