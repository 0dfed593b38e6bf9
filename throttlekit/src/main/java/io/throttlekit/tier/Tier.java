package io.throttlekit.tier;

/**
 * How a limit is shared by the processes of a fleet: the cost of a decision against its promise.
 */
public sealed interface Tier {

  /** Every charge is decided by the store. Exact; one round trip for each request. */
  record Strict() implements Tier {}

  /**
   * Every admission is decided by the store, so it is exact; a refusal answers later requests of at
   * least its cost until its retry time, without a round trip.
   */
  record CachedDeny() implements Tier {}

  /**
   * Units are leased from the store in batches and spent in memory. Fixed windows only.
   *
   * @param size how many units are asked for at a time
   * @param windowCoupled whether what is left of a lease is worth nothing once the store's window
   *     has ended: then at most the limit is admitted per window, by any number of nodes; else at
   *     most {@code limit + nodes · (batch − 1)}
   * @param lowWater a lease is renewed ahead of need when so many units or fewer are left; 0 never
   * @param returnIdleAfterMillis ms without a request after which what is left goes back to the
   *     store; 0 never
   */
  record Leased(LeaseSize size, boolean windowCoupled, long lowWater, long returnIdleAfterMillis)
      implements Tier {

    /** Checks the ranges. */
    public Leased {
      if (lowWater < 0) {
        throw new IllegalArgumentException("low_water must be 0 or more, was " + lowWater);
      }
      if (returnIdleAfterMillis < 0) {
        throw new IllegalArgumentException(
            "return_idle_after must be 0 or more ms, was " + returnIdleAfterMillis);
      }
    }
  }
}
