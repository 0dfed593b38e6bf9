package io.throttlekit.service.http;

/** A body that is longer than what is read of one. */
final class BodyTooLongException extends Exception {
  private static final long serialVersionUID = 1L;

  BodyTooLongException() {}
}
