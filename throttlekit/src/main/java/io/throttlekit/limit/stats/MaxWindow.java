package io.throttlekit.limit.stats;

import java.util.ArrayDeque;

/**
 * The maximum over a span of positions: nanoseconds, or the numbers of the values. Only values that
 * can still become the maximum are kept, so that adding takes O(1) amortized.
 */
public final class MaxWindow {
  private final long span;
  private final ArrayDeque<Entry> falling = new ArrayDeque<>();

  private record Entry(long position, long value) {}

  /**
   * @param span length of the span; with 0 the newest value is the maximum
   */
  public MaxWindow(long span) {
    this.span = span;
  }

  /** Returns the maximum, this value included. */
  public long add(long value, long position) {
    while (!falling.isEmpty() && falling.getLast().value() <= value) {
      falling.removeLast();
    }
    while (!falling.isEmpty() && position - falling.getFirst().position() >= span) {
      falling.removeFirst();
    }
    falling.addLast(new Entry(position, value));
    return falling.getFirst().value();
  }
}
