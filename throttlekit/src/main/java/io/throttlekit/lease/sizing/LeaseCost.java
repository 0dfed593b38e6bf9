package io.throttlekit.lease.sizing;

/**
 * The cost of one window's leases: the economic order quantity, applied to round trips.
 *
 * <p>A node that serves demand {@code D} in leases of {@code b} makes {@code D/b} round trips and
 * holds {@code b/2} units unused on average, so that a window costs
 *
 * <pre>
 *   cost(D, b) = roundTrip · D/b + stranding · b/2      least at  b* = √(2 · roundTrip · D / stranding)
 * </pre>
 *
 * <p>The cost is convex in {@code ln b}. The sizers, the experts that they weigh and the evaluation
 * all use this function. Only the ratio of the two prices decides {@code b*}: a round trip is worth
 * {@code roundTrip / stranding} units that lie unused for a whole window.
 *
 * <p>The formula: F. W. Harris, "How many parts to make at once", 1913.
 *
 * @param roundTrip price of one request to the store, above 0
 * @param stranding price of one unused unit, above 0
 */
public record LeaseCost(double roundTrip, double stranding) {

  /**
   * Prices a round trip at four stranded units. For demand {@code D} a lease is {@code √(8 · D)}
   * units: 28 of 100, or 283 of 10,000, in 4 or 35 round trips per window. Half of the last lease
   * may be unused.
   */
  public static final LeaseCost DEFAULT = new LeaseCost(20, 5);

  /** Checks the ranges. */
  public LeaseCost {
    requirePrice("roundTrip", roundTrip);
    requirePrice("stranding", stranding);
  }

  /**
   * Returns the cost of a window; 0 without demand, because nothing is leased then.
   *
   * @param demand units, from 0
   * @param size units of each lease, above 0
   */
  public double of(double demand, double size) {
    return demand > 0 ? roundTrip * demand / size + stranding * size / 2 : 0;
  }

  /** Returns the size of least cost for that demand; 0 for no demand. */
  public double best(double demand) {
    return Math.sqrt(2 * roundTrip * Math.max(0, demand) / stranding);
  }

  /** Returns the derivative of the cost with respect to {@code ln size}. */
  double slope(double demand, double size) {
    return demand > 0 ? stranding * size / 2 - roundTrip * demand / size : 0;
  }

  /**
   * Returns the size of the next lease, given the demand of the window so far.
   *
   * <p>A size implies the demand that it is optimal for. A lease takes at most what is left of that
   * demand, but at least half the size because demand varies: this strands less at the end of a
   * window, and round trips at most double. When the window's demand exceeds the implied demand,
   * the size is the optimum of the actual demand.
   *
   * @param size the learned size, from 1
   * @param offered demand so far in units, without the units that the lease is for
   * @param limit of the window, from 1
   * @return from 1 to {@code limit}
   */
  long next(double size, long offered, long limit) {
    double seen = (double) Math.min(offered, limit);
    double expected = stranding * size * size / (2 * roundTrip);
    double whole = size;
    if (seen > expected) {
      expected = seen;
      whole = Math.max(size, best(seen));
    }
    double units = Math.min(whole, Math.max(expected - seen, whole / 2));
    return Math.max(1, Math.min(limit, Math.round(units)));
  }

  private static void requirePrice(String name, double price) {
    // Negated so that NaN fails, too.
    if (!(price > 0 && price < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(name + " must be above 0 and finite, was " + price);
    }
  }
}
