package io.throttlekit.concurrency;

/**
 * Between which numbers of requests a ceiling moves, and where it begins.
 *
 * @param min from 1
 * @param max from {@code min}
 * @param initial from {@code min} to {@code max}
 */
public record CeilingRange(int min, int max, int initial) {

  /**
   * @throws IllegalArgumentException when a number is out of range
   */
  public CeilingRange {
    if (min < 1 || max < min || initial < min || initial > max) {
      throw new IllegalArgumentException(
          "a ceiling needs 1 <= min <= initial <= max, but min is "
              + min
              + ", initial "
              + initial
              + " and max "
              + max);
    }
  }

  /** The nearest of the allowed ceilings. */
  double clamp(double ceiling) {
    return Math.clamp(ceiling, (double) min, (double) max);
  }
}
