package io.throttlekit.concurrency;

/**
 * How far the last so many values lie apart. Values of 0, and what is no finite number, are left
 * out. The moments are taken anew from the values, not carried along: a sum that once held a huge
 * value has lost the digits of the small ones.
 */
final class MovingSpread {
  private final double[] values;
  private int count;
  private int next;

  /**
   * @param size how many values are looked back at, from 1
   */
  MovingSpread(int size) {
    this.values = new double[size];
  }

  /** Whether a value counts. */
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

  /** The standard deviation as a share of the mean, or NaN of fewer than two values. */
  double coefficientOfVariation() {
    return count < 2 ? Double.NaN : deviation() / mean();
  }

  double mean() {
    double mean = 0;
    for (int i = 0; i < count; i++) {
      mean += (values[i] - mean) / (i + 1);
    }
    return mean;
  }

  /** The standard deviation of these values themselves, not of what they are a sample of. */
  double deviation() {
    return Math.sqrt(covariance(this));
  }

  /** How the values vary with those of another that was told one whenever this one was. */
  double covariance(MovingSpread other) {
    double mean = mean();
    double mean2 = other == this ? mean : other.mean();
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += (values[i] - mean) * (other.values[i] - mean2);
    }
    return sum / count;
  }

  void reset() {
    count = 0;
    next = 0;
  }
}
