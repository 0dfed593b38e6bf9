package io.throttlekit.limit;

/**
 * The bounds of a concurrency limit, and its initial value.
 *
 * @param min from 1
 * @param max from {@code min}
 * @param initial from {@code min} to {@code max}
 */
public record LimitRange(int min, int max, int initial) {

  /**
   * @throws IllegalArgumentException when a number is out of range
   */
  public LimitRange {
    if (min < 1 || max < min || initial < min || initial > max) {
      throw new IllegalArgumentException(
          "a limit needs 1 <= min <= initial <= max, but min is %s, initial %s and max %s"
              .formatted(min, initial, max));
    }
  }

  /** Returns the nearest allowed limit. */
  double clamp(double limit) {
    return Math.clamp(limit, (double) min, (double) max);
  }
}
