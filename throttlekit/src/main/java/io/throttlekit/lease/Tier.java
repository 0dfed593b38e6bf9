package io.throttlekit.lease;

import io.throttlekit.DataLoss;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.store.Terms;

/**
 * The way a limit is shared by the processes of a fleet: fewer round trips, or a stricter limit.
 */
public sealed interface Tier {

  /** The store decides every charge. Exact; one round trip per request. */
  record Strict() implements Tier {}

  /**
   * The store decides every admission, so the limit is exact. A refusal is cached until its retry
   * time and answers requests of at least its cost without a round trip.
   */
  record CachedDeny() implements Tier {}

  /** Units are leased in batches and spent in memory. For fixed windows only. */
  sealed interface Leasing extends Tier permits Leased, Global {

    /** Returns the number of units per lease. */
    LeaseSize size();

    /**
     * Returns the low-water mark: with this many units or fewer, a lease is renewed ahead of need;
     * from 0.
     */
    long lowWater();

    /**
     * Returns the ms without a request after which unused units are returned, from 1; 0 for never.
     */
    long returnIdleAfterMillis();
  }

  /**
   * Units are leased from the store.
   *
   * @param size the number of units per lease
   * @param windowCoupled whether leased units expire when the store's window ends, as those of
   *     tenants always do. If so, at most the limit is admitted per window, by any number of nodes;
   *     otherwise at most {@code limit + nodes · (batch − 1)}
   * @param lowWater a lease is renewed ahead of need with this many units or fewer; 0 for never
   * @param returnIdleAfterMillis ms without a request after which unused units are returned to the
   *     store; 0 for never
   */
  record Leased(LeaseSize size, boolean windowCoupled, long lowWater, long returnIdleAfterMillis)
      implements Leasing {
    /**
     * Leases of a size that follows the demand, which expire with their window, and are returned
     * after 30 s without a request.
     */
    public static final Leased DEFAULT = new Leased(new LeaseSize.Adaptive(), true, 0, 30_000);

    /** Checks the ranges. */
    public Leased {
      requireRanges(lowWater, returnIdleAfterMillis);
    }
  }

  /**
   * Units are leased from a limit that all regions share. At most the limit is admitted per window,
   * by any number of regions and nodes: units expire with their window.
   *
   * @param size the number of units per lease
   * @param lowWater a lease is renewed ahead of need with this many units or fewer; a lease that
   *     would otherwise arrive too late is renewed ahead in any case
   * @param returnIdleAfterMillis ms without a request after which unused units are returned; 0 for
   *     never
   * @param terms the terms that all regions have to agree on
   * @param onDataLoss the policy for a loss of the coordinator's data
   * @param regionalOnly whether a coordinator that does not answer receives only probes, while the
   *     region spends the units that it holds
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
