package io.throttlekit.store;

import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A store did not answer, or not in time. What was asked of it may have been counted, unless the
 * call was {@linkplain #isNotSent not sent}.
 *
 * <p>Its message is for operators and may quote the store or its driver. Callers of the service get
 * {@link #forCaller}.
 */
public final class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final String LATE = "the store did not answer in time";
  private static final String OVERTAKEN = "a later call of the same sender was answered";
  private static final String NOT_REACHABLE = "the store is not reachable";

  private final boolean late;
  private final boolean notSent;

  /** Creates an outage, in words for an operator. */
  public StoreException(String message, @Nullable Throwable cause) {
    this(message, cause, false, false);
  }

  private StoreException(String message, @Nullable Throwable cause, boolean late, boolean notSent) {
    super(message, cause, false, false); // the stack is the event loop's and tells nothing
    this.late = late;
    this.notSent = notSent;
  }

  /** Returns a failure of a call whose wait ended before its answer came. */
  public static StoreException late(String message) {
    return new StoreException(message, null, true, false);
  }

  /** Returns a failure of a call that never left this process, so nothing was counted. */
  public static StoreException notSent(String message) {
    return new StoreException(message, null, false, true);
  }

  /** Returns a failure of a call that had no effect, because its sender's next was answered. */
  public static StoreException overtaken() {
    return new StoreException(OVERTAKEN, null);
  }

  /** Returns whether the store cannot have acted on the call. */
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

  /** Returns one of two fixed texts for a caller, who is not to learn what the store is. */
  public String forCaller() {
    return late ? LATE : NOT_REACHABLE;
  }
}
