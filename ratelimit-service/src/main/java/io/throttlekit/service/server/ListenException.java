package io.throttlekit.service.server;

import org.jspecify.annotations.Nullable;

/**
 * Signals that the server cannot listen. The message is for the operator and contains where and
 * why.
 */
public final class ListenException extends StartException {
  private static final long serialVersionUID = 1L;

  ListenException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
