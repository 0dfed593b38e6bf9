package io.throttlekit.concurrency;

/**
 * How far a ceiling may be above what is really in flight. What is not used teaches nothing, and a
 * ceiling far above it takes long to come down.
 */
@FunctionalInterface
public interface Headroom {

  /**
   * The greatest ceiling for so many requests in flight. What is no number or below 1 counts as 1.
   *
   * @param inFlight the most that was in flight lately, from 1
   */
  double ceilingFor(int inFlight);

  /**
   * So many times what is in flight.
   *
   * @throws IllegalArgumentException when {@code factor} is below 1
   */
  static Headroom times(double factor) {
    return times(factor, 0, 1);
  }

  /**
   * So many times what is in flight, less where much is: {@code max(factor − decay ·
   * log10(inFlight), least)} times.
   *
   * @param factor from 1
   * @param decay from 0
   * @param least from 1
   * @throws IllegalArgumentException when a number is out of range
   */
  static Headroom times(double factor, double decay, double least) {
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
