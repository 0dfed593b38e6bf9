package io.throttlekit.concurrency;

import java.util.ArrayDeque;

/** The maximum over a span of time: only values that can still become the maximum are kept. */
final class MaxWindow {
  private final long spanNanos;
  private final ArrayDeque<Entry> falling = new ArrayDeque<>();

  private record Entry(long nanos, int value) {}

  /**
   * @param spanNanos length of the span; with 0 the newest value is the maximum
   */
  MaxWindow(long spanNanos) {
    this.spanNanos = spanNanos;
  }

  /** Returns the maximum, this value included. */
  int add(int value, long nowNanos) {
    while (!falling.isEmpty() && falling.getLast().value() <= value) {
      falling.removeLast();
    }
    while (!falling.isEmpty() && nowNanos - falling.getFirst().nanos() >= spanNanos) {
      falling.removeFirst();
    }
    falling.addLast(new Entry(nowNanos, value));
    return falling.getFirst().value();
  }
}
