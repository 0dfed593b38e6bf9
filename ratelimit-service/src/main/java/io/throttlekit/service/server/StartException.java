package io.throttlekit.service.server;

import org.jspecify.annotations.Nullable;

/** Signals that the process cannot start. The message is for the operator. */
public class StartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates a signal of a reason, which is for the operator. */
  public StartException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
