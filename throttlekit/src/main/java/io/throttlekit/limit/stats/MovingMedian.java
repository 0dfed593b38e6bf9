package io.throttlekit.limit.stats;

import java.util.Arrays;

/** The median of the last few values. Returns the newest value while there are fewer. */
public final class MovingMedian {
  private final double[] values;
  private final double[] sorted;
  private int count;
  private int next;

  /**
   * @param size number of values in the median, odd
   */
  public MovingMedian(int size) {
    this.values = new double[size];
    this.sorted = new double[size];
  }

  /** Returns the median, this value included. */
  public double add(double value) {
    values[next] = value;
    next = (next + 1) % values.length;
    count = Math.min(count + 1, values.length);
    if (count < values.length) {
      return value;
    }
    System.arraycopy(values, 0, sorted, 0, values.length);
    Arrays.sort(sorted);
    return sorted[values.length / 2];
  }
}
