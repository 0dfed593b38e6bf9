package io.throttlekit.tier;

import io.throttlekit.TimeSource;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** Runs what is due when the test says so. For one thread. */
public final class ManualTimer implements Timer {
  private final TimeSource time;
  private final PriorityQueue<Due> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Due::atNanos).thenComparingLong(Due::order));
  private long order;

  private record Due(long atNanos, long nanos, long order, Runnable task) {}

  /** A timer that {@code time} drives. */
  public ManualTimer(TimeSource time) {
    this.time = time;
  }

  @Override
  public void runAfter(long nanos, Runnable task) {
    tasks.add(new Due(time.monotonicNanos() + nanos, nanos, order++, task));
  }

  /** How many tasks are to run yet. */
  public int size() {
    return tasks.size();
  }

  /** Runs every task that is due by now. */
  public void run() {
    for (Due next = tasks.peek();
        next != null && next.atNanos <= time.monotonicNanos();
        next = tasks.peek()) {
      tasks.remove();
      next.task.run();
    }
  }

  /** When tasks are due, but for those that were to run after {@code exceptNanos}. */
  public List<Long> due(long exceptNanos) {
    return tasks.stream()
        .filter(task -> task.nanos != exceptNanos)
        .map(Due::atNanos)
        .sorted()
        .toList();
  }
}
