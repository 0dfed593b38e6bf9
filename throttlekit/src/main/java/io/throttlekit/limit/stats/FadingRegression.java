package io.throttlekit.limit.stats;

/**
 * A linear regression of one value on another, in which each sample counts less the more have
 * followed. Not thread-safe.
 */
public final class FadingRegression {
  /** The least sum of weights from which there is a slope, a little less than two samples. */
  private static final double MIN_WEIGHT = 1.5;

  /** The relative variance of the independent value up to which it is a rounding error. */
  private static final double ROUNDING = 1e-12;

  private final double kept;
  private final double variance;
  private double weight;
  private double x;
  private double y;
  private double xx;
  private double xy;
  private double yy;

  /**
   * Creates a regression without samples.
   *
   * @param kept the share of its weight that a sample keeps with each that follows, from 0 to 1
   * @param variance of the dependent value, with the weight of one sample: a few samples on a line
   *     are chance
   */
  public FadingRegression(double kept, double variance) {
    this.kept = kept;
    this.variance = variance;
  }

  /** Adds a sample. */
  public void add(double addedX, double addedY) {
    weight = kept * weight + 1;
    x = kept * x + addedX;
    y = kept * y + addedY;
    xx = kept * xx + addedX * addedX;
    xy = kept * xy + addedX * addedY;
    yy = kept * yy + addedY * addedY;
  }

  /** Returns the slope; unknown after one sample, or if the independent value did not change. */
  public Slope slope() {
    double squares = xx - x * x / weight;
    if (weight < MIN_WEIGHT || squares <= ROUNDING * xx) {
      return Slope.UNKNOWN;
    }
    double products = xy - x * y / weight;
    double unexplained = yy - y * y / weight - products * products / squares;
    double residual = (Math.max(0, unexplained) + variance) / weight;
    return new Slope(products / squares, squares / residual);
  }

  /** Forgets all samples. */
  public void reset() {
    weight = 0;
    x = 0;
    y = 0;
    xx = 0;
    xy = 0;
    yy = 0;
  }
}
