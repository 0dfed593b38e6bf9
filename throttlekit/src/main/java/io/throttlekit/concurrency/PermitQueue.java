package io.throttlekit.concurrency;

import io.throttlekit.tier.Wakeups;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The FIFO queue of requests that wait for a permit, with their deadlines. A removed request leaves
 * both indexes at once, so cancelled requests use no memory. Not thread-safe.
 */
final class PermitQueue {
  private static final long RESOLUTION_NANOS = 1_000_000; // resolution of the timers

  private final TreeSet<QueuedRequest> waiters = new TreeSet<>(QueuedRequest::compareOrders);
  private final TreeSet<QueuedRequest> impatient = new TreeSet<>(QueuedRequest::compareEnds);
  private final Wakeups wakeups = new Wakeups(RESOLUTION_NANOS);
  private long joined;

  void add(QueuedRequest waiter) {
    waiter.joined(joined++);
    waiters.add(waiter);
    if (!waiter.isPatient()) {
      impatient.add(waiter);
    }
  }

  /** Removes {@code waiter}, which was added here. Returns whether it was still queued. */
  boolean remove(QueuedRequest waiter) {
    if (!waiters.remove(waiter)) {
      return false;
    }
    forget(waiter);
    return true;
  }

  /** Removes and returns the request that has waited longest, or null if none waits. */
  @Nullable QueuedRequest pollFirst() {
    QueuedRequest first = waiters.pollFirst();
    if (first != null) {
      forget(first);
    }
    return first;
  }

  /** Removes and returns a request whose deadline has passed, or null if there is none. */
  @Nullable QueuedRequest pollDue(long nowNanos) {
    // The difference of monotonic times is safe against overflow.
    if (impatient.isEmpty() || impatient.first().endNanos() - nowNanos > 0) {
      return null;
    }
    QueuedRequest due = impatient.removeFirst();
    waiters.remove(due);
    return due;
  }

  /** Removes and returns all. */
  List<QueuedRequest> removeAll() {
    List<QueuedRequest> all = List.copyOf(waiters);
    waiters.clear();
    impatient.clear();
    return all;
  }

  /** Returns in how many ns a further timer must run, or 0 if none is needed. */
  long beginTimer(long nowNanos) {
    return impatient.isEmpty() ? 0 : wakeups.begin(impatient.first().endNanos(), nowNanos);
  }

  /** Notes that the timer due at {@code dueNanos} has run. */
  void timerRan(long dueNanos) {
    wakeups.ran(dueNanos);
  }

  private void forget(QueuedRequest waiter) {
    if (!waiter.isPatient()) {
      impatient.remove(waiter);
    }
  }
}
