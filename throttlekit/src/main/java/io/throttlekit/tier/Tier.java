package io.throttlekit.tier;

import io.throttlekit.DataLoss;
import io.throttlekit.store.Terms;

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

  /** Units are leased in batches and spent in memory. Fixed windows only. */
  sealed interface Leasing extends Tier permits Leased, Global {

    /** How many units are asked for at a time. */
    LeaseSize size();

    /** A lease is renewed ahead of need when so many units or fewer are left, from 0. */
    long lowWater();

    /** ms without a request after which what is left goes back, from 1; 0 never. */
    long returnIdleAfterMillis();
  }

  /**
   * Units are leased from the store.
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
      implements Leasing {

    /** Checks the ranges. */
    public Leased {
      requireRanges(lowWater, returnIdleAfterMillis);
    }
  }

  /**
   * Units are leased from what all regions share. At most the limit is admitted per window, by any
   * number of regions and their nodes: what is left when the window ends is worth nothing.
   *
   * @param size how many units are asked for at a time
   * @param lowWater a lease is renewed ahead of need when so many units or fewer are left; one that
   *     would otherwise be late is renewed ahead in any case
   * @param returnIdleAfterMillis ms without a request after which what is left goes back; 0 never
   * @param terms what all regions have to agree on
   * @param onDataLoss what a loss of the coordinator's data means
   * @param regionalOnly whether a coordinator that does not answer is left alone but for probes,
   *     and what the region holds is spent meanwhile
   */
  record Global(
      LeaseSize size,
      long lowWater,
      long returnIdleAfterMillis,
      Terms terms,
      DataLoss onDataLoss,
      boolean regionalOnly)
      implements Leasing {

    /** Checks the ranges. */
    public Global {
      requireRanges(lowWater, returnIdleAfterMillis);
    }
  }

  private static void requireRanges(long lowWater, long returnIdleAfterMillis) {
    if (lowWater < 0) {
      throw new IllegalArgumentException("low_water must be 0 or more, was " + lowWater);
    }
    if (returnIdleAfterMillis < 0) {
      throw new IllegalArgumentException(
          "return_idle_after must be 0 or more ms, was " + returnIdleAfterMillis);
    }
  }
}
