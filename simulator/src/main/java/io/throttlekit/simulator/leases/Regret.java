package io.throttlekit.simulator.leases;

import io.throttlekit.lease.sizing.LeaseCost;

/** Regret of a learner: its cost less that of the best fixed size in hindsight. */
final class Regret {
  // Twice the mean demand: larger sizes only strand more.
  private static final int LARGEST_FIXED_SIZE = 200;

  private Regret() {}

  /** Cost of one window with one size. */
  @FunctionalInterface
  interface WindowCost {
    double of(long demand, long size);
  }

  /** Returns the cost function that learners minimize. */
  static WindowCost smooth(LeaseCost cost) {
    return (demand, size) -> cost.roundTrip() * demand / size + cost.stranding() * size / 2;
  }

  /**
   * Returns the real cost of one node alone: whole round trips, and the units that the last lease
   * strands.
   */
  static WindowCost whole(LeaseCost cost) {
    return (demand, size) ->
        cost.roundTrip() * Math.ceilDiv(demand, size)
            + cost.stranding() * Math.floorMod(-demand, size);
  }

  /** Returns the regret per window. */
  static double perWindow(Learner learner, long[] demands, WindowCost cost) {
    double learned = 0;
    for (long demand : demands) {
      learned += cost.of(demand, learner.size(0));
      learner.observe(demand);
    }
    double best = Double.POSITIVE_INFINITY;
    for (long size = 1; size <= LARGEST_FIXED_SIZE; size++) {
      double fixed = 0;
      for (long demand : demands) {
        fixed += cost.of(demand, size);
      }
      best = Math.min(best, fixed);
    }
    return (learned - best) / demands.length;
  }
}
