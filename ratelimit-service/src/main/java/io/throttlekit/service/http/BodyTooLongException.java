package io.throttlekit.service.http;

/** Signals a body longer than the listener accepts; none of it was kept. */
final class BodyTooLongException extends MalformedBodyException {
  private static final long serialVersionUID = 1L;

  BodyTooLongException() {
    super("Request Entity Too Large");
  }
}
