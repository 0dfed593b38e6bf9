package io.throttlekit.limit.stats;

/**
 * The correlation of two measures over the last pairs. A pair with a 0 or a value that is not
 * finite is ignored whole, so that both measures stay aligned. The moments are computed from the
 * values each time and not carried along: a running sum that once held a huge value has lost the
 * digits of the small ones.
 */
public final class CorrelationWindow {
  /** The variation below which a measure counts as constant; its correlation is 0. */
  private static final double CONSTANT = 0.01; // as in failsafe-go

  private static final Reading NOTHING = new Reading(0, 0, 0);

  private final double[] first;
  private final double[] second;
  private final int warmUp;
  private int count;
  private int next;

  /**
   * The statistics of the pairs.
   *
   * @param correlation Pearson's, from −1 to 1
   * @param xVariation coefficient of variation of the first measure
   * @param yVariation that of the second
   */
  public record Reading(double correlation, double xVariation, double yVariation) {}

  /**
   * @param size number of pairs, from 1
   * @param warmUp pairs before which all statistics are 0
   */
  public CorrelationWindow(int size, int warmUp) {
    this.first = new double[size];
    this.second = new double[size];
    this.warmUp = Math.max(2, warmUp); // one value has no deviation
  }

  /** Returns the statistics, this pair included. */
  public Reading add(double x, double y) {
    if (x == 0 || !Double.isFinite(x) || y == 0 || !Double.isFinite(y)) {
      return NOTHING;
    }
    first[next] = x;
    second[next] = y;
    next = (next + 1) % first.length;
    count = Math.min(count + 1, first.length);
    double xDeviation = Math.sqrt(covariance(first, first));
    double yDeviation = Math.sqrt(covariance(second, second));
    double xVariation = xDeviation / mean(first);
    double yVariation = yDeviation / mean(second);
    if (count < warmUp || !Double.isFinite(xVariation) || !Double.isFinite(yVariation)) {
      return NOTHING;
    }
    if (xVariation < CONSTANT || yVariation < CONSTANT) {
      return new Reading(0, xVariation, yVariation);
    }
    double correlation = covariance(first, second) / (xDeviation * yDeviation);
    return Double.isFinite(correlation)
        ? new Reading(Math.clamp(correlation, -1.0, 1.0), xVariation, yVariation)
        : NOTHING;
  }

  private double mean(double[] values) {
    double mean = 0;
    for (int i = 0; i < count; i++) {
      // Incremental mean: a sum of huge values would overflow.
      mean += (values[i] - mean) / (i + 1);
    }
    return mean;
  }

  /** Returns the population covariance, not the sample's. */
  private double covariance(double[] one, double[] other) {
    double mean = mean(one);
    double otherMean = mean(other);
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += (one[i] - mean) * (other[i] - otherMean);
    }
    return sum / count;
  }
}
