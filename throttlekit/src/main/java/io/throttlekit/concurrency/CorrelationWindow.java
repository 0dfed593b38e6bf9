package io.throttlekit.concurrency;

/**
 * Whether two measures rise and fall together, over the last so many pairs. A pair with a 0 or with
 * what is no finite number is left out whole, so that the two never get out of step.
 */
final class CorrelationWindow {
  /** What varies less is taken to stand still, and then correlates with nothing. */
  private static final double STILL = 0.01;

  private static final Reading NOTHING = new Reading(0, 0, 0);

  private final MovingSpread x;
  private final MovingSpread y;
  private final int warmUp;

  /**
   * What the pairs say.
   *
   * @param correlation Pearson's, from −1 to 1
   * @param xVariation the coefficient of variation of the first measure
   * @param yVariation that of the second
   */
  record Reading(double correlation, double xVariation, double yVariation) {}

  /**
   * @param size how many pairs are looked back at, from 1
   * @param warmUp pairs before which nothing is said
   */
  CorrelationWindow(int size, int warmUp) {
    this.x = new MovingSpread(size);
    this.y = new MovingSpread(size);
    this.warmUp = warmUp;
  }

  /** What the pairs say with this one. */
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

  int size() {
    return x.size();
  }

  void reset() {
    x.reset();
    y.reset();
  }
}
