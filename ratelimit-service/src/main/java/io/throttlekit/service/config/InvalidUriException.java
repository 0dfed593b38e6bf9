package io.throttlekit.service.config;

/**
 * Signals that a text is no valid URI of a store; its message shows no part of the text that may be
 * a secret.
 */
final class InvalidUriException extends Exception {
  private static final long serialVersionUID = 1L;

  InvalidUriException(String message) {
    super(message);
  }

  InvalidUriException(String message, String right) {
    super(message + "; write " + right);
  }
}
