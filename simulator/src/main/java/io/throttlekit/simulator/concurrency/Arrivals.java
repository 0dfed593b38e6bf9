package io.throttlekit.simulator.concurrency;

/** The distribution of the gaps between requests. */
@FunctionalInterface
interface Arrivals {
  /** Requests that are independent of each other. */
  Arrivals INDEPENDENT = (chance, _) -> chance.exponential();

  /**
   * Draws a gap as a multiple of the mean gap of the phase.
   *
   * @param second since the start of the run, with fractions
   */
  double gap(Chance chance, double second);

  /**
   * Returns independent batches of requests that arrive at once. Their size is geometrically
   * distributed.
   *
   * @param mean size, from 1
   */
  static Arrivals batches(double mean) {
    return (chance, _) -> chance.uniform() * mean < 1 ? mean * chance.exponential() : 0;
  }

  /**
   * Returns independent requests whose rate changes between two values, first the higher one.
   *
   * @param most rate as a multiple of the phase's rate, for {@code mostSeconds}, then {@code least}
   *     for {@code leastSeconds}, and so on; both above 0
   */
  static Arrivals onOff(double most, double mostSeconds, double least, double leastSeconds) {
    return (chance, second) ->
        chance.exponential() / (second % (mostSeconds + leastSeconds) < mostSeconds ? most : least);
  }

  /**
   * Returns independent requests whose rate is a sine around that of the phase, lowest at the
   * start.
   *
   * @param share deviation of the rate at its extremes, below 1
   * @param periodSeconds from one minimum to the next
   */
  static Arrivals daily(double share, double periodSeconds) {
    return (chance, second) ->
        chance.exponential()
            / (1 - share * StrictMath.cos(2 * StrictMath.PI * second / periodSeconds));
  }
}
