package io.throttlekit.simulator.leases;

import io.throttlekit.lease.sizing.LeaseCost;

/**
 * The published learner with predictions, from its formulas: Hedge over the whole past between a
 * rounded size for the prediction and {@link PublishedEoq}.
 */
final class PublishedPredictive implements Learner {
  private static final double LEARNING_RATE = 0.01; // as published

  private final LeaseCost cost;
  private final PublishedEoq robust;
  private double predicted;
  private double followed;
  private double relied;

  PublishedPredictive(LeaseCost cost) {
    this.cost = cost;
    this.robust = new PublishedEoq(cost);
  }

  void predict(double demand) {
    predicted = demand;
  }

  @Override
  public long size(long offered) {
    double follow = weightOfFollowing();
    return robust.within(follow * following() + (1 - follow) * robust.size(offered));
  }

  @Override
  public void observe(long demand) {
    followed += cost.of((double) demand, (double) following());
    relied += cost.of((double) demand, (double) robust.size(0));
    robust.observe(demand);
  }

  double weightOfFollowing() {
    double least = Math.min(followed, relied);
    double follow = Math.exp(-LEARNING_RATE * (followed - least));
    double rely = Math.exp(-LEARNING_RATE * (relied - least));
    return follow / (follow + rely);
  }

  private long following() {
    return predicted > 0 ? robust.within(cost.best(predicted)) : robust.within(1);
  }
}
