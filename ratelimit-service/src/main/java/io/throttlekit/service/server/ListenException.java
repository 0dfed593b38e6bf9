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

  /** Returns the exception of a server that cannot listen at an address for this reason. */
  static ListenException at(Object address, @Nullable String reason, @Nullable Throwable cause) {
    return new ListenException("cannot listen for gRPC on " + address + ": " + reason, cause);
  }
}
