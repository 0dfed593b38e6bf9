package io.throttlekit.lease.sizing;

/**
 * Follows a prediction of each window's demand in proportion to its past success, and the {@link
 * EoqSizer} otherwise.
 *
 * <p>Hedge with these two experts: a weight is {@code e^(−0.01 · cost of the advice so far)}, by
 * {@link LeaseCost}, and the size is the weighted mean. Only the difference of the two costs
 * matters. It is kept within {@code ln(1000)/0.01}, so neither weight falls below a thousandth, and
 * advice that was good for long loses its weight soon after it turns bad. The bound adds at most a
 * thousandth of the other size.
 *
 * <p>By default it predicts the demand of the last window that had any.
 *
 * <p>Source: Y. Freund, R. Schapire, "A decision-theoretic generalization of on-line learning",
 * JCSS 55, 1997.
 */
public final class PredictiveSizer implements LeaseSizer {
  /**
   * Learning rate per unit of {@link LeaseCost}: the default price of a round trip, 20, shifts the
   * odds by a fifth.
   */
  private static final double LEARNING_RATE = 0.01;

  /** The largest cost difference kept, at which the weights are about 0.999 and 0.001. */
  private static final double MAX_AHEAD = Math.log(1000) / LEARNING_RATE;

  private final LeaseCost cost;
  private final EoqSizer robust;
  private double predicted = Double.NaN;
  private double costOfFollowing;

  /**
   * Creates a sizer without observations.
   *
   * @param limit of the window, from 1
   */
  public PredictiveSizer(LeaseCost cost, long limit) {
    this.cost = cost;
    this.robust = new EoqSizer(cost, limit);
  }

  /**
   * Sets the predicted demand of the current window, in place of the last window's.
   *
   * @param demand units, from 0
   */
  public void predict(double demand) {
    predicted = demand;
  }

  @Override
  public long size(long offered, long limit) {
    return cost.next(planned(limit), offered, limit);
  }

  @Override
  public void observe(long demand, long limit) {
    if (demand > 0) {
      long units = Math.min(demand, limit);
      double more =
          cost.of((double) units, following(limit)) - cost.of((double) units, robust.learned());
      costOfFollowing = Math.clamp(costOfFollowing + more, -MAX_AHEAD, MAX_AHEAD);
      robust.observe(units, limit);
      predicted = (double) units;
    }
  }

  /**
   * Returns the weighted mean of both sizes, not rounded and not adjusted to the current window's
   * demand.
   */
  double planned(long limit) {
    double follow = weightOfFollowing();
    return follow * following(limit) + (1 - follow) * robust.learned();
  }

  /** Returns the weight of the prediction, from about 0.001 to 0.999; one half at the start. */
  double weightOfFollowing() {
    return 1 / (1 + Math.exp(LEARNING_RATE * costOfFollowing));
  }

  private double following(long limit) {
    return Double.isNaN(predicted)
        ? robust.learned()
        : Math.max(1, cost.best(Math.min(predicted, (double) limit)));
  }
}
