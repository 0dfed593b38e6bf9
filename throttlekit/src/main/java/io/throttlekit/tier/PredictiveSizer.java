package io.throttlekit.tier;

/**
 * Follows a prediction of each window's demand as far as following has paid off, and the {@link
 * EoqSizer} otherwise.
 *
 * <p>Hedge over these two: a weight is {@code e^(−0.01 · what the advice has cost so far)}, by
 * {@link LeaseCost}, and the size is their weighted mean. Only the difference of the two costs
 * matters, and it is kept within {@code ln(1000)/0.01}: neither weight falls below a thousandth, so
 * that advice which has been good for long is left soon after it has turned bad, and the other way
 * round. That bound adds no more than a thousandth of the other size.
 *
 * <p>Unless told otherwise it predicts that a window brings what the last one with any demand did.
 *
 * <p>Source: Y. Freund, R. Schapire, "A decision-theoretic generalization of on-line learning",
 * JCSS 55, 1997.
 */
public final class PredictiveSizer implements LeaseSizer {
  private static final double LEARNING_RATE = 0.01;
  private static final double MOST_AHEAD = Math.log(1000) / LEARNING_RATE;

  private final LeaseCost cost;
  private final EoqSizer robust;
  private double predicted = Double.NaN;
  private double costOfFollowing;

  /**
   * One that knows nothing yet.
   *
   * @param limit of the window, from 1
   */
  public PredictiveSizer(LeaseCost cost, long limit) {
    this.cost = cost;
    this.robust = new EoqSizer(cost, limit);
  }

  /**
   * Says what the current window will bring, in place of what the last one did.
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
      costOfFollowing = Math.clamp(costOfFollowing + more, -MOST_AHEAD, MOST_AHEAD);
      robust.observe(units, limit);
      predicted = (double) units;
    }
  }

  /** What both advise, by their weights, not rounded, whatever the current window has brought. */
  double planned(long limit) {
    double follow = weightOfFollowing();
    return follow * following(limit) + (1 - follow) * robust.learned();
  }

  /** From about 0.001 to 0.999; one half before anything is known. */
  double weightOfFollowing() {
    return 1 / (1 + Math.exp(LEARNING_RATE * costOfFollowing));
  }

  private double following(long limit) {
    return Double.isNaN(predicted)
        ? robust.learned()
        : Math.max(1, cost.best(Math.min(predicted, (double) limit)));
  }
}
