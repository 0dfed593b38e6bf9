package io.throttlekit.tier;

/**
 * Learns the size of leases that costs least, whatever the demand turns out to be.
 *
 * <p>AdaGrad on {@code x = ln b} with the slope of {@link LeaseCost} for what each window brought:
 *
 * <pre>  G := G + g²,   x := x − ln 2 · g / √G,   1 ≤ b ≤ limit,   first b = √limit</pre>
 *
 * <p>The rule is scale-free, and its first step is {@code ln 2} whatever the slope: the first
 * window at most doubles or halves the size. The customary step, the width of the whole range,
 * throws the first size to one of its ends. The first size is the middle of the range: none is
 * further away than by a factor of {@code √limit}.
 *
 * <p>Slopes grow with the ratio of the size to the best one, and one slope from far away in {@code
 * G} would make all later steps short. So a slope counts for no more than the least that its window
 * could have cost, a bound that doubles each time it is met. It is met a few times, once for each
 * doubling of the steepest slope there is, so the regret against the best fixed size keeps its
 * order: with {@code w} the width of {@code x} that is really used it is {@code (w²/(2 ln 2) + ln
 * 2) · √Σg²} and a constant, so {@code O(√T)} over {@code T} windows.
 *
 * <p>Source: J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods for online learning and
 * stochastic optimization", JMLR 12, 2011; the step was chosen by experiment (docs/BENCHMARKS.md,
 * "Lease sizes").
 */
public final class EoqSizer implements LeaseSizer {
  private static final double FIRST_STEP = Math.log(2);

  private final LeaseCost cost;
  private double logSize;
  private double squaredSlopes;
  private double steepest = 1;

  /**
   * One that knows nothing yet.
   *
   * @param limit of the window, from 1
   */
  public EoqSizer(LeaseCost cost, long limit) {
    this.cost = cost;
    this.logSize = Math.log((double) limit) / 2;
  }

  @Override
  public long size(long offered, long limit) {
    return cost.next(learned(), offered, limit);
  }

  @Override
  public void observe(long demand, long limit) {
    double units = (double) Math.min(demand, limit);
    double slope = bounded(cost.slope(units, learned()), cost.of(units, cost.best(units)));
    if (slope != 0) {
      squaredSlopes += slope * slope;
      logSize -= FIRST_STEP * slope / Math.sqrt(squaredSlopes);
    }
    logSize = Math.clamp(logSize, 0, Math.log((double) limit));
  }

  /** What was learned so far, not rounded, whatever the current window has brought. */
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
