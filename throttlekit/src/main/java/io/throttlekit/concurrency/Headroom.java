package io.throttlekit.concurrency;

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
   * − decay · log10(inFlight), least)}.
   *
   * @param factor from 1
   * @param decay from 0
   * @param least from 1
   * @throws IllegalArgumentException when a number is out of range
   */
  static Headroom times(double factor, double decay, double least) {
    // Written as a negation, so that NaN is refused.
    if (!(factor >= 1 && factor <= Double.MAX_VALUE)
        || !(decay >= 0 && decay <= Double.MAX_VALUE)
        || !(least >= 1 && least <= Double.MAX_VALUE)) {
      throw new IllegalArgumentException(
          "headroom needs a factor from 1, a decay from 0 and a least factor from 1, were "
              + factor
              + ", "
              + decay
              + " and "
              + least);
    }
    return inFlight -> {
      double shrunk = decay > 0 ? Math.max(factor - decay * Math.log10(inFlight), least) : factor;
      return inFlight * shrunk;
    };
  }
}
