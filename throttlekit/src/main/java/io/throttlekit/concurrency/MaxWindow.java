package io.throttlekit.concurrency;

import java.util.ArrayDeque;

/** The greatest value of the last while: only values that can still become it are kept. */
final class MaxWindow {
  private final long spanNanos;
  private final ArrayDeque<Told> falling = new ArrayDeque<>();

  private record Told(long nanos, int value) {}

  /**
   * @param spanNanos how long is looked back; with 0 the newest value is the greatest
   */
  MaxWindow(long spanNanos) {
    this.spanNanos = spanNanos;
  }

  /** The greatest with this value. */
  int add(int value, long nowNanos) {
    while (!falling.isEmpty() && falling.getLast().value() <= value) {
      falling.removeLast();
    }
    while (!falling.isEmpty() && nowNanos - falling.getFirst().nanos() >= spanNanos) {
      falling.removeFirst();
    }
    falling.addLast(new Told(nowNanos, value));
    return falling.getFirst().value();
  }

  void reset() {
    falling.clear();
  }
}
