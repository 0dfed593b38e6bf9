package io.throttlekit.limit.stats;

/**
 * An exponential moving average: the plain mean of the first values, then each new value has the
 * weight {@code 2 / (age + 1)}.
 */
public final class MovingAverage {
  private final double share;
  private final int warmUp;
  private int count;

  /** The average, or 0 before the first value. */
  public double value;

  /**
   * @param age average age of the values by their weight, from 1
   * @param warmUp number of values in the plain mean, from 0; with 0 the average starts at 0
   */
  public MovingAverage(int age, int warmUp) {
    this.share = 2.0 / (age + 1.0);
    this.warmUp = warmUp;
  }

  /** Returns the average, this value included. */
  public double add(double latest) {
    if (count < warmUp) {
      count++;
      value += (latest - value) / count;
    } else {
      value += share * (latest - value);
    }
    return value;
  }
}
