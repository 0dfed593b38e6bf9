package io.throttlekit.service.config.load;

/** Signals a text that is no valid value. The message is for the operator, without secrets. */
final class InvalidTextException extends Exception {
  private static final long serialVersionUID = 1L;

  InvalidTextException(String reason) {
    super(reason);
  }

  /** Creates a signal that also shows what is valid. */
  InvalidTextException(String reason, String valid) {
    super(reason + "; write " + valid);
  }
}
