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
}
