package io.throttlekit.share;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;

/** A clock that moves from event to event, and the events. For one thread. */
final class VirtualTime implements TimeSource, Scheduler {
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::atNanos).thenComparingLong(Event::order));
  private long nowNanos;
  private long order;

  private record Event(long atNanos, long order, Runnable task) {}

  @Override
  public long wallMillis() {
    return TimeUnit.NANOSECONDS.toMillis(nowNanos);
  }

  @Override
  public long monotonicNanos() {
    return nowNanos;
  }

  @Override
  public void runAfter(long nanos, Runnable task) {
    events.add(new Event(nowNanos + nanos, order++, task));
  }

  /** Runs all events up to {@code millis} from now, and then it is so late. */
  void run(long millis) {
    long endNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(millis);
    for (Event next = events.peek();
        next != null && next.atNanos <= endNanos;
        next = events.peek()) {
      events.remove();
      nowNanos = next.atNanos;
      next.task.run();
    }
    nowNanos = endNanos;
  }

  /** Lets time pass without an event, as for a process that is stopped. */
  void stop(long millis) {
    nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
