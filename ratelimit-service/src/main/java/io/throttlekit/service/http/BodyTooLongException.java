package io.throttlekit.service.http;

/** Signals a body longer than the listener accepts. */
final class BodyTooLongException extends Exception {
  private static final long serialVersionUID = 1L;

  BodyTooLongException() {}
}
