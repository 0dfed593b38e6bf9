package io.throttlekit.demo;

import java.io.IOException;

/** Thrown if the configured Envoy cannot be used. The message names it, and how to fix that. */
public final class UnusableEnvoyException extends IOException {
  private static final long serialVersionUID = 1;

  /**
   * @param message names the Envoy, and how to fix the problem
   */
  public UnusableEnvoyException(String message) {
    super(message);
  }
}
