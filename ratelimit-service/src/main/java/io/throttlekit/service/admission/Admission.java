package io.throttlekit.service.admission;

import org.jspecify.annotations.Nullable;

/** Decides requests. Implementations are thread-safe and never block. */
public interface Admission {

  /**
   * Decides and charges one request.
   *
   * @param later told the answer when it is not known now, exactly once, from any thread
   * @return the answer when it is known now, which is nearly always; {@code later} is not used then
   * @throws NoPoliciesException when no policies were ever loaded
   */
  @Nullable Answer decide(RateLimitRequest request, Later later);

  /** Waits for an answer that needed a store. */
  interface Later {

    /** The request is decided. */
    void answered(Answer answer);

    /** The request could not be decided. */
    void failed(Throwable cause);

    /**
     * Returns how long it waits at most, in ns from now; {@link Long#MAX_VALUE} where it named no
     * timeout. To be called while the request is being decided, on its thread.
     */
    default long patienceNanos() {
      return Long.MAX_VALUE;
    }

    /**
     * Has {@code action} run, instead of one that was given before, when whoever asked goes away
     * without an answer, or at once if that has happened. Only a caller that can go away does so.
     */
    default void whenGone(Runnable action) {}
  }
}
