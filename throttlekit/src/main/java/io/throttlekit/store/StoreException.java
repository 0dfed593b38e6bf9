package io.throttlekit.store;

import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A store did not answer, or not in time. What it was asked may have been counted, unless the call
 * was {@linkplain #isNotSent not sent}.
 */
public final class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean notSent;

  /** An outage, in words for an operator. */
  public StoreException(String message, @Nullable Throwable cause) {
    this(message, cause, false);
  }

  private StoreException(String message, @Nullable Throwable cause, boolean notSent) {
    super(message, cause, false, false); // the stack is the event loop's and tells nothing
    this.notSent = notSent;
  }

  /** A call that never left this process, so nothing was counted. */
  public static StoreException notSent(String message) {
    return new StoreException(message, null, true);
  }

  /** Whether the store cannot have acted on the call. */
  public boolean isNotSent() {
    return notSent;
  }

  /** What went wrong, as a failure of the store: itself, or what it was caused by, if it is one. */
  public static StoreException of(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause instanceof StoreException known
        ? known
        : new StoreException("the store failed", failure);
  }
}
