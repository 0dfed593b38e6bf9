package io.throttlekit.limiter;

import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The FIFO queue of requests that wait for a permit, with their deadlines. A removed request leaves
 * both indexes at once, so cancelled requests use no memory. Not thread-safe.
 */
final class PermitQueue {
  private final TreeSet<QueuedRequest> inOrder = new TreeSet<>(QueuedRequest::compareOrders);
  private final TreeSet<QueuedRequest> byDeadline = new TreeSet<>(QueuedRequest::compareDeadlines);
  private long joined = 1; // 0 is the order of a request that was never added

  void add(QueuedRequest request) {
    request.joined(joined++);
    inOrder.add(request);
    if (request.hasDeadline) {
      byDeadline.add(request);
    }
  }

  /** Removes {@code request}, which was added here. Returns whether it was still queued. */
  boolean remove(QueuedRequest request) {
    byDeadline.remove(request);
    return inOrder.remove(request);
  }

  /** Returns the request that has waited longest, or null if none waits. */
  @Nullable QueuedRequest first() {
    return inOrder.isEmpty() ? null : inOrder.getFirst();
  }

  /** Removes and returns a request whose deadline has passed, or null if there is none. */
  @Nullable QueuedRequest pollDue(long nowNanos) {
    // The difference of monotonic times is safe against overflow.
    if (byDeadline.isEmpty() || byDeadline.first().deadlineNanos - nowNanos > 0) {
      return null;
    }
    QueuedRequest due = byDeadline.removeFirst();
    inOrder.remove(due);
    return due;
  }

  /** Removes and returns all. */
  List<QueuedRequest> removeAll() {
    List<QueuedRequest> all = List.copyOf(inOrder);
    inOrder.clear();
    byDeadline.clear();
    return all;
  }

  /** Returns the request whose deadline is the earliest, or null if none has one. */
  @Nullable QueuedRequest firstDue() {
    return byDeadline.isEmpty() ? null : byDeadline.first();
  }
}
