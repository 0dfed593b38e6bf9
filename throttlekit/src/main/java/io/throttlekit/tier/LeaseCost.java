package io.throttlekit.tier;

/**
 * What the leases of one window cost: the economic order quantity, applied to round trips.
 *
 * <p>A node that serves demand {@code D} in leases of {@code b} makes {@code D/b} round trips and
 * holds {@code b/2} units unused on average, so that a window costs
 *
 * <pre>
 *   cost(D, b) = roundTrip · D/b + stranding · b/2      least at  b* = √(2 · roundTrip · D / stranding)
 * </pre>
 *
 * <p>Cost is convex in {@code ln b}. The sizers, the experts that they weigh and the evaluation all
 * use this one function. Only the ratio of the two prices decides {@code b*}: a round trip is worth
 * as much as {@code roundTrip / stranding} units that lie unused for a whole window.
 *
 * <p>The formula: F. W. Harris, "How many parts to make at once", 1913.
 *
 * @param roundTrip price of asking the store once, above 0
 * @param stranding price of one unit that lies unused, above 0
 */
public record LeaseCost(double roundTrip, double stranding) {

  /**
   * A round trip is worth four stranded units: for demand {@code D} a lease is {@code √(8 · D)}
   * units, so 28 of 100 and 283 of 10,000, and a window takes 4 round trips or 35. Half of the last
   * lease may lie unused.
   */
  public static final LeaseCost DEFAULT = new LeaseCost(20, 5);

  /** Checks the ranges. */
  public LeaseCost {
    requirePrice("roundTrip", roundTrip);
    requirePrice("stranding", stranding);
  }

  /**
   * What a window costs; nothing without demand, because then nothing is leased.
   *
   * @param demand units, from 0
   * @param size units of each lease, above 0
   */
  public double of(double demand, double size) {
    return demand > 0 ? roundTrip * demand / size + stranding * size / 2 : 0;
  }

  /** The size that costs least for that demand; 0 for none. */
  public double best(double demand) {
    return Math.sqrt(2 * roundTrip * Math.max(0, demand) / stranding);
  }

  /** How fast the cost grows with {@code ln size}. */
  double slope(double demand, double size) {
    return demand > 0 ? stranding * size / 2 - roundTrip * demand / size : 0;
  }

  /**
   * The next lease of a node that has settled on a size, knowing what this window has brought so
   * far.
   *
   * <p>A size stands for the demand that it is best for. A lease asks for no more than that demand
   * has left, but for half the size at least, since demand is seldom what it was: so what the last
   * lease of a window strands shrinks and round trips no more than double. When the window has
   * brought more than that demand already, the size is that of what it has brought.
   *
   * @param size that was settled on, from 1
   * @param offered units so far, without those that the lease is for
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
    if (!(price > 0 && price < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(name + " must be above 0 and finite, was " + price);
    }
  }
}
