package io.throttlekit.lease.sizing;

import io.throttlekit.Cost;

/** The number of units per lease. A request that costs more leases its cost. */
public sealed interface LeaseSize {

  /**
   * A constant size, but at most the limit. It learns nothing, so it is its own sizer.
   *
   * @param units 1 to {@link Cost#MAX}
   */
  record Fixed(long units) implements LeaseSize, LeaseSizer {
    /** Checks the range. */
    public Fixed {
      if (units < 1 || units > Cost.MAX) {
        throw new IllegalArgumentException("size must be from 1 to 2^53-1, was " + units);
      }
    }

    @Override
    public long size(long offered, long limit) {
      return Math.min(units, limit);
    }

    @Override
    public void observe(long demand, long limit) {
      // a constant has no state
    }

    @Override
    public boolean learns() {
      return false;
    }
  }

  /** A size learned from the demand of past windows. */
  record Adaptive() implements LeaseSize {}

  /** A learned size that follows the last window's demand where that prediction was good. */
  record Predictive() implements LeaseSize {}
}
