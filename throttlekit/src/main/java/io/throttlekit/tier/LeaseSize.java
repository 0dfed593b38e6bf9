package io.throttlekit.tier;

import io.throttlekit.Cost;

/** How many units a lease asks for. A request that costs more asks for its cost. */
public sealed interface LeaseSize {

  /**
   * Always the same.
   *
   * @param units 1 to {@link Cost#MAX}
   */
  record Fixed(long units) implements LeaseSize {
    /** Checks the range. */
    public Fixed {
      if (units < 1 || units > Cost.MAX) {
        throw new IllegalArgumentException("size must be from 1 to 2^53-1, was " + units);
      }
    }
  }

  /** Learned from the demand of the windows so far. */
  record Adaptive() implements LeaseSize {}

  /** Learned, and led by what the last window suggests where that has served well. */
  record Predictive() implements LeaseSize {}
}
