package io.throttlekit.store;

import org.jspecify.annotations.Nullable;

/** A store did not answer, or not in time. What it was asked may have been counted. */
public final class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** An outage, in words for an operator. */
  public StoreException(String message, @Nullable Throwable cause) {
    super(message, cause, false, false); // the stack is the event loop's and tells nothing
  }
}
