package io.throttlekit.service.admission;

import org.jspecify.annotations.Nullable;

/** Decides requests. Implementations are thread-safe and never block. */
public interface Admission {

  /**
   * Decides and charges one request.
   *
   * @param later receives the answer exactly once, from any thread, if it is not known at once
   * @return the answer if it is known at once, which is nearly always; {@code later} is then not
   *     used
   * @throws NoPoliciesException if no policies were ever loaded
   */
  @Nullable Answer decide(RateLimitRequest request, Later later);

  /** Callback for an answer that needed a store. */
  interface Later {

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
     * Registers {@code action}, in place of an earlier one, to run when the caller cancels before
     * it has an answer, or at once if it has cancelled already. The default is for callers that
     * cannot cancel.
     */
    default void onCancelled(Runnable action) {}
  }
}
