package io.throttlekit.demo;

import java.io.IOException;

/** The user has named an Envoy that cannot be used; the message says which, and what to do. */
final class UnusableEnvoyException extends IOException {
  private static final long serialVersionUID = 1;

  UnusableEnvoyException(String message) {
    super(message);
  }
}
