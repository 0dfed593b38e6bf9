package io.throttlekit.concurrency;

/**
 * The correlation of two measures over the last pairs. A pair with a 0 or a value that is not
 * finite is ignored whole, so that both measures stay aligned.
 */
final class CorrelationWindow {
  /** The variation below which a measure counts as constant; its correlation is 0. */
  private static final double STILL = 0.01;

  private static final Reading NOTHING = new Reading(0, 0, 0);

  private final MovingSpread x;
  private final MovingSpread y;
  private final int warmUp;

  /**
   * The statistics of the pairs.
   *
   * @param correlation Pearson's, from −1 to 1
   * @param xVariation coefficient of variation of the first measure
   * @param yVariation that of the second
   */
  record Reading(double correlation, double xVariation, double yVariation) {}

  /**
   * @param size number of pairs, from 1
   * @param warmUp pairs before which all statistics are 0
   */
  CorrelationWindow(int size, int warmUp) {
    this.x = new MovingSpread(size);
    this.y = new MovingSpread(size);
    this.warmUp = warmUp;
  }

  /** Returns the statistics, this pair included. */
  Reading add(double first, double second) {
    if (!MovingSpread.counts(first) || !MovingSpread.counts(second)) {
      return NOTHING;
    }
    x.add(first);
    y.add(second);
    double xVariation = x.coefficientOfVariation();
    double yVariation = y.coefficientOfVariation();
    if (x.size() < Math.max(2, warmUp)
        || !Double.isFinite(xVariation)
        || !Double.isFinite(yVariation)) {
      return NOTHING;
    }
    if (xVariation < STILL || yVariation < STILL) {
      return new Reading(0, xVariation, yVariation);
    }
    double correlation = x.covariance(y) / (x.deviation() * y.deviation());
    return Double.isFinite(correlation)
        ? new Reading(Math.clamp(correlation, -1.0, 1.0), xVariation, yVariation)
        : NOTHING;
  }
}
