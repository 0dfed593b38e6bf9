package io.throttlekit.concurrency;

/**
 * A mean that forgets: the plain mean of the first values, then each new one counts {@code 2 / (age
 * + 1)}.
 */
final class MovingAverage {
  private final double share;
  private final int warmUp;
  private int count;
  private double value;

  /**
   * @param age what the values weigh is as if they were so many on average, from 1
   * @param warmUp how many values the plain mean is taken of, from 0; with none the mean begins at
   *     0
   */
  MovingAverage(int age, int warmUp) {
    this.share = 2.0 / (age + 1.0);
    this.warmUp = warmUp;
  }

  /** The mean with this value. */
  double add(double latest) {
    if (count < warmUp) {
      count++;
      value += (latest - value) / count;
    } else {
      value += share * (latest - value);
    }
    return value;
  }

  /** The mean, or 0 before there is a value. */
  double value() {
    return value;
  }

  void reset() {
    count = 0;
    value = 0;
  }
}
