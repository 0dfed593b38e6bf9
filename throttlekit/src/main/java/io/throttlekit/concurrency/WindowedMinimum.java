package io.throttlekit.concurrency;

/**
 * The least of the last so many values, O(1) amortized: only values that can still become the least
 * are kept, and they rise from front to back.
 */
final class WindowedMinimum {
  private final int window;
  private final long[] values;
  private final long[] told;
  private int front;
  private int size;
  private long count;

  /**
   * @param window how many values are looked back at, from 1
   */
  WindowedMinimum(int window) {
    this.window = window;
    this.values = new long[window];
    this.told = new long[window];
  }

  void add(long value) {
    count++;
    if (size > 0 && told[front] <= count - window) {
      front = (front + 1) % window;
      size--;
    }
    while (size > 0 && values[at(size - 1)] >= value) {
      size--;
    }
    values[at(size)] = value;
    told[at(size)] = count;
    size++;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** The least, where there is a value. */
  long least() {
    return values[front];
  }

  /** Forgets every value. */
  void reset() {
    front = 0;
    size = 0;
  }

  private int at(int place) {
    return (int) (((long) front + place) % window);
  }
}
