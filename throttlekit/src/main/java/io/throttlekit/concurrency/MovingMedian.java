package io.throttlekit.concurrency;

import java.util.Arrays;

/** The median of the last few values; the newest itself while there are fewer. */
final class MovingMedian {
  private final double[] values;
  private final double[] sorted;
  private int count;
  private int next;

  /**
   * @param size how many values are looked back at, odd
   */
  MovingMedian(int size) {
    this.values = new double[size];
    this.sorted = new double[size];
  }

  /** The median with this value. */
  double add(double value) {
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

  void reset() {
    count = 0;
    next = 0;
  }
}
