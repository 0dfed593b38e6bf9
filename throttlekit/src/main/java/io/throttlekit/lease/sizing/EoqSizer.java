package io.throttlekit.lease.sizing;

/**
 * Learns the lease size of least cost without assumptions about the demand.
 *
 * <p>AdaGrad on {@code x = ln b}, with the slope of {@link LeaseCost} for each window's demand:
 *
 * <pre>  G := G + g²,   x := x − ln 2 · g / √G,   1 ≤ b ≤ limit,   first b = √limit</pre>
 *
 * <p>The rule is scale-free. Its first step is {@code ln 2} whatever the slope, so the first window
 * at most doubles or halves the size; the usual step, the width of the whole range, would move the
 * first size to one end of the range. The first size is the middle of the range: no size is further
 * away than a factor of {@code √limit}.
 *
 * <p>Slopes grow with the ratio of the size to the best size, and one steep slope in {@code G}
 * would make all later steps short. Therefore a slope is bounded by the least cost that its window
 * could have had, times a factor that doubles each time the bound is reached. It is reached only as
 * often as the steepest possible slope can be halved, so the regret against the best fixed size
 * keeps its order: with {@code w} the width of {@code x} in use it is {@code (w²/(2 ln 2) + ln 2) ·
 * √Σg²} plus a constant, so {@code O(√T)} over {@code T} windows.
 *
 * <p>Source: J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods for online learning and
 * stochastic optimization", JMLR 12, 2011; the step was chosen by experiment (docs/BENCHMARKS.md,
 * "Lease sizes").
 */
public final class EoqSizer implements LeaseSizer {
  /** The length of the first step in {@code ln b}: at most doubles or halves the size. */
  private static final double FIRST_STEP = Math.log(2);

  private final LeaseCost cost;
  private double logSize;
  private double squaredSlopes;

  /** The factor of the bound on slopes; doubles each time a slope reaches it. */
  private double steepest = 1;

  /**
   * Creates a sizer without observations.
   *
   * @param limit of the window, from 1
   */
  public EoqSizer(LeaseCost cost, long limit) {
    this.cost = cost;
    this.logSize = Math.log((double) limit) / 2; // the middle of 1 to limit on a log scale
  }

  @Override
  public long size(long offered, long limit) {
    return cost.next(learned(), offered, limit);
  }

  @Override
  public void observe(long demand, long limit) {
    double units = (double) Math.min(demand, limit); // more could not have been leased
    double slope = bounded(cost.slope(units, learned()), cost.of(units, cost.best(units)));
    // A window without demand has slope 0, and 0 / √0 would be NaN.
    if (slope != 0) {
      squaredSlopes += slope * slope;
      logSize -= FIRST_STEP * slope / Math.sqrt(squaredSlopes);
    }
    // 1 to the limit, which a reload may lower.
    logSize = Math.clamp(logSize, 0, Math.log((double) limit));
  }

  /** Returns the learned size, not rounded and not adjusted to the current window's demand. */
  double learned() {
    return Math.exp(logSize);
  }

  private double bounded(double slope, double leastCost) {
    double most = steepest * leastCost;
    if (Math.abs(slope) > most) {
      steepest *= 2;
    }
    return Math.clamp(slope, -most, most);
  }
}
