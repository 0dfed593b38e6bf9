package io.throttlekit.simulator.leases;

import io.throttlekit.lease.sizing.LeaseCost;

/**
 * The published learner, from its formulas: AdaGrad on the logarithm of the size, whose first step
 * is as long as the whole range.
 *
 * <p>The first window therefore moves the size to an end of its range. A size stays the same for a
 * whole window.
 */
final class PublishedEoq implements Learner {
  private static final double EPSILON = 1e-8; // avoids a division by zero before the first slope
  private static final double MIN_STEP = 1e-6; // where the range has one size

  private final LeaseCost cost;
  private final double lowest;
  private final double highest;
  private final double step;
  private double logSize;
  private double squaredSlopes;

  PublishedEoq(LeaseCost cost, long least, long most, long first) {
    if (least < 1 || most < least) {
      throw new IllegalArgumentException("sizes from " + least + " to " + most);
    }
    this.cost = cost;
    this.lowest = Math.log((double) least);
    this.highest = Math.log((double) most);
    this.step = Math.max(MIN_STEP, highest - lowest);
    this.logSize = Math.clamp(Math.log((double) first), lowest, highest);
  }

  /** Creates a learner with the published parameters: from 1 to 1,000, starting with 1. */
  PublishedEoq(LeaseCost cost) {
    this(cost, 1, 1_000, 1);
  }

  @Override
  public long size(long offered) {
    return Math.round(continuous());
  }

  @Override
  public void observe(long demand) {
    double size = continuous();
    double slope = cost.stranding() * size / 2 - cost.roundTrip() * demand / size;
    squaredSlopes += slope * slope;
    double moved = logSize - step / Math.sqrt(EPSILON + squaredSlopes) * slope;
    logSize = Math.clamp(moved, lowest, highest);
  }

  double continuous() {
    return Math.exp(logSize);
  }

  /** Rounds a size and clamps it to the range, as this learner does. */
  long within(double size) {
    return Math.round(Math.clamp(size, Math.exp(lowest), Math.exp(highest)));
  }
}
