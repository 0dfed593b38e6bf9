package io.throttlekit.limit.stats;

/**
 * By how much one value rises with another.
 *
 * @param value the slope; 0 if nothing is known
 * @param precision inverse of the variance of the value, from 0; may be infinite
 */
public record Slope(double value, double precision) {
  /** Nothing is known. */
  public static final Slope UNKNOWN = new Slope(0, 0);

  /**
   * Returns the estimate of both together, each weighted by its precision. An infinite precision
   * outweighs every finite one; of two, this slope counts.
   */
  public Slope and(Slope other) {
    if (other.precision == 0 || Double.isInfinite(precision)) {
      return this;
    }
    if (precision == 0 || Double.isInfinite(other.precision)) {
      return other;
    }
    double both = precision + other.precision;
    return new Slope((precision * value + other.precision * other.value) / both, both);
  }

  /**
   * Returns the slope with a part of its precision.
   *
   * @param part from 0; with 0, nothing is known
   */
  public Slope times(double part) {
    return part == 0 ? UNKNOWN : new Slope(value, part * precision);
  }

  /**
   * Returns the slope with a limited precision.
   *
   * @param most the greatest precision, above 0
   */
  public Slope atMost(double most) {
    return precision <= most ? this : new Slope(value, most);
  }
}
