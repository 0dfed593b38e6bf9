package io.throttlekit.service;

import org.jspecify.annotations.Nullable;

/** Signals that the process cannot start. The message is for the operator. */
public final class StartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StartException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
