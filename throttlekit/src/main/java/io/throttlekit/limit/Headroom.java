package io.throttlekit.limit;

/**
 * How far a limit may exceed the requests in flight. Unused slots yield no samples, and a limit far
 * above the usage takes long to fall.
 */
@FunctionalInterface
public interface Headroom {

  /**
   * Returns the greatest limit for a number of requests in flight. NaN and results below 1 count as
   * 1.
   *
   * @param inFlight recent maximum in flight, from 1
   */
  double limitFor(int inFlight);

  /**
   * Returns a multiple of the requests in flight.
   *
   * @throws IllegalArgumentException when {@code factor} is below 1
   */
  static Headroom times(double factor) {
    return times(factor, 0, 1);
  }

  /**
   * Returns a multiple of the requests in flight that shrinks with their number: {@code max(factor
   * − decay · log10(inFlight), least)}. Two of them with equal numbers are equal.
   *
   * @param factor from 1
   * @param decay from 0
   * @param least from 1
   * @throws IllegalArgumentException when a number is out of range
   */
  static Headroom times(double factor, double decay, double least) {
    return new Multiple(factor, decay, least);
  }

  /** A multiple; see {@link #times(double, double, double)}. */
  record Multiple(double factor, double decay, double least) implements Headroom {

    /**
     * @throws IllegalArgumentException when a number is out of range
     */
    public Multiple {
      // Written as a negation, so that NaN is refused.
      if (!(factor >= 1 && factor <= Double.MAX_VALUE)
          || !(decay >= 0 && decay <= Double.MAX_VALUE)
          || !(least >= 1 && least <= Double.MAX_VALUE)) {
        throw new IllegalArgumentException(
            "headroom needs factor and least from 1, and decay from 0, were %s, %s and %s"
                .formatted(factor, least, decay));
      }
    }

    @Override
    public double limitFor(int inFlight) {
      return inFlight
          * (decay > 0 ? Math.max(factor - decay * Math.log10(inFlight), least) : factor);
    }
  }
}
