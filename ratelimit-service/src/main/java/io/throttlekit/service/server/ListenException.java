package io.throttlekit.service.server;

import org.jspecify.annotations.Nullable;

/** The server cannot listen. The message says where and why, for whoever started it. */
public final class ListenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ListenException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
