package io.throttlekit.simulator.fleet;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;

/** A clock that the simulation sets, and the tasks that are due by it. For one thread. */
public final class VirtualTime implements TimeSource, Scheduler {
  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Task::dueNanos).thenComparingLong(Task::order));
  private long nowNanos;
  private long order;

  private record Task(long dueNanos, long order, Runnable action) {}

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
    tasks.add(
        new Task(nowNanos + nanos, order++, task)); // of tasks due together, the first is first
  }

  /** Returns when the next task is due; {@link Long#MAX_VALUE} if there is none. */
  long next() {
    Task first = tasks.peek();
    return first == null ? Long.MAX_VALUE : first.dueNanos;
  }

  /** Runs the next task, at the time when it is due. */
  void runNext() {
    Task first = tasks.remove();
    nowNanos = first.dueNanos;
    first.action.run();
  }

  /** Sets the time, not later than {@link #next}. */
  void set(long nanos) {
    nowNanos = nanos;
  }

  /** Runs the tasks that are due until a time, each at the time when it is due, and sets it. */
  public void runUntil(long nanos) {
    while (next() <= nanos) {
      runNext();
    }
    set(nanos);
  }
}
