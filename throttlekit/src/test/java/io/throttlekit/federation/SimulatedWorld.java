package io.throttlekit.federation;

import io.throttlekit.TimeSource;
import java.util.PriorityQueue;

/** Simulated time, which only passes from event to event, for all clocks at once. */
final class SimulatedWorld {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private long nowNanos;
  private long order;

  private record Event(long atNanos, long order, Runnable what) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(atNanos, other.atNanos);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  long nowNanos() {
    return nowNanos;
  }

  void after(long nanos, Runnable what) {
    events.add(new Event(nowNanos + Math.max(0, nanos), order++, what));
  }

  /** Lets time pass. */
  void run(long nanos) {
    long end = nowNanos + nanos;
    for (Event next = events.peek(); next != null && next.atNanos() <= end; next = events.peek()) {
      events.remove();
      nowNanos = next.atNanos();
      next.what().run();
    }
    nowNanos = end;
  }

  /**
   * Creates a host's clocks.
   *
   * @param wallMillis the reading of its wall clock at the beginning
   * @param fastParts how fast both run, in parts per million; negative if slow
   */
  TimeSource clock(long wallMillis, long fastParts) {
    return new TimeSource() {
      @Override
      public long wallMillis() {
        return wallMillis + monotonicNanos() / NANOS_PER_MILLI;
      }

      @Override
      public long monotonicNanos() {
        return nowNanos + nowNanos / 1_000_000 * fastParts;
      }
    };
  }
}
