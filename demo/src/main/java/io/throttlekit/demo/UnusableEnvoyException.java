package io.throttlekit.demo;

import java.io.IOException;

/** The user has named an Envoy that cannot be used; the message says which, and what to do. */
public final class UnusableEnvoyException extends IOException {
  private static final long serialVersionUID = 1;

  /**
   * @param message names the Envoy, and says what to do
   */
  public UnusableEnvoyException(String message) {
    super(message);
  }
}
