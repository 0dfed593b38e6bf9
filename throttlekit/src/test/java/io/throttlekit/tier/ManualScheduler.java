package io.throttlekit.tier;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** Runs due tasks when the test decides. For one thread. */
public final class ManualScheduler implements Scheduler {
  private final TimeSource time;
  private final PriorityQueue<Due> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Due::atNanos).thenComparingLong(Due::order));
  private long order;

  private record Due(long atNanos, long nanos, long order, Runnable task) {}

  /** Creates a timer with the clock {@code time}. */
  public ManualScheduler(TimeSource time) {
    this.time = time;
  }

  @Override
  public void runAfter(long nanos, Runnable task) {
    tasks.add(new Due(time.monotonicNanos() + nanos, nanos, order++, task));
  }

  /** Returns the number of pending tasks. */
  public int size() {
    return tasks.size();
  }

  /** Runs every due task. */
  public void run() {
    for (Due next = tasks.peek();
        next != null && next.atNanos <= time.monotonicNanos();
        next = tasks.peek()) {
      tasks.remove();
      next.task.run();
    }
  }

  /** Returns when tasks are due, except those with a delay of {@code exceptNanos}. */
  public List<Long> due(long exceptNanos) {
    return tasks.stream()
        .filter(task -> task.nanos != exceptNanos)
        .map(Due::atNanos)
        .sorted()
        .toList();
  }
}
