package io.throttlekit.concurrency;

/**
 * The minimum of the last values, in O(1) amortized: only values that can still become the minimum
 * are kept, ascending from front to back.
 */
final class WindowedMinimum {
  private final int window;
  private final long[] values;
  private final long[] added;
  private int front;
  private int size;
  private long count;

  /**
   * @param window number of values, from 1
   */
  WindowedMinimum(int window) {
    this.window = window;
    this.values = new long[window];
    this.added = new long[window];
  }

  void add(long value) {
    count++;
    if (size > 0 && added[front] <= count - window) {
      front = (front + 1) % window;
      size--;
    }
    while (size > 0 && values[at(size - 1)] >= value) {
      size--;
    }
    values[at(size)] = value;
    added[at(size)] = count;
    size++;
  }

  /** Returns the minimum. There must be a value. */
  long least() {
    return values[front];
  }

  /** Discards all values. */
  void reset() {
    front = 0;
    size = 0;
  }

  private int at(int place) {
    return (int) (((long) front + place) % window); // the sum of two ints can overflow
  }
}
