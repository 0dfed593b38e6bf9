package io.throttlekit.service.admission;

/** Callback for an answer that needed a store. Exactly one of its first two methods is called. */
public interface AnswerCallback {
  /** Receives the decision. */
  void answered(Answer answer);

  /** Receives the reason why the request could not be decided. */
  void failed(Throwable cause);

  /**
   * Returns the wait timeout of the caller in ns from now, or {@link Long#MAX_VALUE} if it set
   * none. Call it while the request is being decided, on that thread.
   */
  default long waitTimeoutNanos() {
    return Long.MAX_VALUE;
  }

  /**
   * Registers {@code action}, in place of an earlier one, to run when the caller cancels before it
   * has an answer, or at once if it has cancelled already. The default is for callers that cannot
   * cancel.
   */
  default void onCancelled(Runnable action) {}
}
