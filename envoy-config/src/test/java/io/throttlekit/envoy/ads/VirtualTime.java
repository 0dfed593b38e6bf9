package io.throttlekit.envoy.ads;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** A clock and a timer that move when the test moves them. Thread-safe. */
final class VirtualTime implements TimeSource, Scheduler {
  private final PriorityQueue<Due> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Due::atNanos).thenComparingLong(Due::order));
  private long nanos = 1;
  private long order;

  private record Due(long atNanos, long order, Runnable task) {}

  /** Moves from task to task, and to the end of the time. */
  void pass(Duration time) {
    long end = monotonicNanos() + time.toNanos();
    for (Due next = next(end); next != null; next = next(end)) {
      next.task.run();
    }
    jump(end);
  }

  /** Moves without running tasks, as in a task that takes long. */
  void take(Duration time) {
    jump(monotonicNanos() + time.toNanos());
  }

  @Override
  public synchronized void runAfter(long delay, Runnable task) {
    if (delay <= 0) {
      throw new IllegalArgumentException("a delay is above 0");
    }
    tasks.add(new Due(nanos + delay, order++, task));
  }

  @Override
  public synchronized long monotonicNanos() {
    return nanos;
  }

  @Override
  public long wallMillis() {
    throw new UnsupportedOperationException("a subscription has no use for the wall clock");
  }

  /** Returns the number of tasks that have not run. */
  synchronized int tasks() {
    return tasks.size();
  }

  private synchronized @Nullable Due next(long end) {
    Due next = tasks.peek();
    if (next == null || next.atNanos > end) {
      return null;
    }
    nanos = Math.max(nanos, next.atNanos);
    return tasks.remove();
  }

  private synchronized void jump(long end) {
    nanos = Math.max(nanos, end);
  }
}
