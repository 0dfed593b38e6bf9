package io.throttlekit.concurrency;

/**
 * Mean, deviation and covariance of the last values. Zeros and values that are not finite are
 * ignored. The moments are computed from the values each time and not carried along: a running sum
 * that once held a huge value has lost the digits of the small ones.
 */
final class MovingSpread {
  private final double[] values;
  private int count;
  private int next;

  /**
   * @param size number of values, from 1
   */
  MovingSpread(int size) {
    this.values = new double[size];
  }

  /** Returns whether a value is used. */
  static boolean counts(double value) {
    return value != 0 && Double.isFinite(value);
  }

  void add(double value) {
    if (counts(value)) {
      values[next] = value;
      next = (next + 1) % values.length;
      count = Math.min(count + 1, values.length);
    }
  }

  int size() {
    return count;
  }

  /** Returns the standard deviation divided by the mean, or NaN of fewer than two values. */
  double coefficientOfVariation() {
    return count < 2 ? Double.NaN : deviation() / mean();
  }

  double mean() {
    double mean = 0;
    for (int i = 0; i < count; i++) {
      // Incremental mean: a sum of huge values would overflow.
      mean += (values[i] - mean) / (i + 1);
    }
    return mean;
  }

  /** Returns the population standard deviation, not the sample's. */
  double deviation() {
    return Math.sqrt(covariance(this));
  }

  /**
   * Returns the covariance with {@code other}, to which a value must have been added whenever one
   * was added here.
   */
  double covariance(MovingSpread other) {
    double mean = mean();
    double mean2 = other == this ? mean : other.mean();
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += (values[i] - mean) * (other.values[i] - mean2);
    }
    return sum / count;
  }
}
