package io.throttlekit.service.server;

import org.jspecify.annotations.Nullable;

/**
 * Signals that the server cannot listen. The message is for the operator and contains where and
 * why.
 */
public final class ListenException extends StartException {
  private static final long serialVersionUID = 1L;

  private final boolean ofAddress;

  ListenException(String message, @Nullable Throwable cause) {
    this(message, cause, false);
  }

  private ListenException(String message, @Nullable Throwable cause, boolean ofAddress) {
    super(message, cause);
    this.ofAddress = ofAddress;
  }

  /** Returns the exception of a server that cannot listen at an address for this reason. */
  static ListenException at(Object address, @Nullable String reason, @Nullable Throwable cause) {
    return new ListenException("cannot listen for gRPC on " + address + ": " + reason, cause, true);
  }

  /** Returns this exception with the setting of the address, if the address is the reason. */
  public ListenException setBy(String setting) {
    return ofAddress
        ? new ListenException(getMessage() + " (set by " + setting + ")", this, true)
        : this;
  }
}
