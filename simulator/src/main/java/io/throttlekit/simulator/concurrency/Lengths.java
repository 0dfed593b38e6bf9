package io.throttlekit.simulator.concurrency;

/** The distribution of service times around their mean. */
@FunctionalInterface
public interface Lengths {
  /** All service times are equal. */
  Lengths FIXED = _ -> 1;

  /** Exponential, as in the closed forms of queueing theory. */
  Lengths EXPONENTIAL = Chance::exponential;

  /** Draws a service time with mean 1. */
  double draw(Chance chance);

  /**
   * Returns a log-normal distribution, as in measured services: most a little below the mean, a few
   * far above.
   *
   * @param variation deviation divided by mean, from 0
   */
  static Lengths logNormal(double variation) {
    double variance = StrictMath.log(1 + variation * variation);
    double deviation = Math.sqrt(variance);
    // The shift by variance / 2 makes the mean 1.
    return chance -> StrictMath.exp(deviation * chance.normal() - variance / 2);
  }

  /**
   * Returns a normal distribution without negative values.
   *
   * @param variation deviation divided by mean; a third at most, so that the mean stays 1
   */
  static Lengths normal(double variation) {
    return chance -> Math.max(0, 1 + variation * chance.normal());
  }

  /**
   * Returns two kinds of requests, each of a constant service time.
   *
   * @param fast service time of most requests, in any unit
   * @param slow service time of the others, in the same unit
   * @param share of the slow ones
   */
  static Lengths either(double fast, double slow, double share) {
    double mean = fast + share * (slow - fast);
    return chance -> (chance.uniform() < share ? slow : fast) / mean;
  }

  /**
   * Returns a Pareto distribution, cut off above.
   *
   * @param shape above 1; the smaller, the heavier its tail
   * @param max greatest value
   */
  static Lengths pareto(double shape, double max) {
    double least = (shape - 1) / shape; // the mean is 1 but for the cut
    return chance -> Math.min(max, least * StrictMath.pow(1 - chance.uniform(), -1 / shape));
  }
}
