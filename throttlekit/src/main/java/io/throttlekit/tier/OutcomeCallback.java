package io.throttlekit.tier;

import io.throttlekit.store.StoreException;

/**
 * A callback for a decision that is not made at once. Exactly one of its first two methods is
 * called, once.
 */
public interface OutcomeCallback {
  /** The request is decided. Called on any thread; must not block. */
  void decided(TieredOutcome outcome);

  /**
   * The store did not answer, and a claim's policy is {@link Outage#ERROR}. Called as {@link
   * #decided}.
   */
  void failed(StoreException cause);

  /**
   * Returns the caller's remaining deadline in ns from now, if it is shorter than {@link
   * TierSettings#waitTimeoutNanos}. Called at most once, on the thread that calls {@link
   * Tiers#acquire}, and only for a request that has to wait.
   */
  default long waitTimeoutNanos() {
    return Long.MAX_VALUE;
  }
}
