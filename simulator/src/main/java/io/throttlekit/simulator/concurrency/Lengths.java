package io.throttlekit.simulator.concurrency;

/** How the lengths of requests vary about their mean. */
@FunctionalInterface
public interface Lengths {
  /** All alike. */
  Lengths FIXED = _ -> 1;

  /** As those of queueing theory's closed forms. */
  Lengths EXPONENTIAL = Chance::exponential;

  /** A length, of mean 1. */
  double draw(Chance chance);

  /**
   * As measured services have them: most a little below the mean, a few far above.
   *
   * @param variation deviation by mean, from 0
   */
  static Lengths logNormal(double variation) {
    double variance = StrictMath.log(1 + variation * variation);
    double deviation = Math.sqrt(variance);
    return chance -> StrictMath.exp(deviation * chance.normal() - variance / 2);
  }
}
