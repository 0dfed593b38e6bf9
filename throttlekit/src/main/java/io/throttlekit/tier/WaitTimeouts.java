package io.throttlekit.tier;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.Wakeups;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;

/** Ends the wait of requests whose wait timeout has expired. Thread-safe. */
final class WaitTimeouts {
  /**
   * The resolution of the timers: a wait ends at most 1 ms late, and timers are at least that far
   * apart.
   */
  private static final long RESOLUTION_NANOS = 1_000_000;

  private final TimeSource time;
  // By difference: monotonic times can overflow.
  private final Queue<TieredRequest> waiting =
      new PriorityQueue<>((one, other) -> Long.signum(one.endNanos() - other.endNanos()));
  private final Wakeups wakeups;

  WaitTimeouts(TimeSource time, Scheduler timer) {
    this.time = time;
    this.wakeups = new Wakeups(timer, RESOLUTION_NANOS, this::sweep);
  }

  /**
   * Ends the wait of {@code request} at its {@code endNanos}, unless it no longer waits by then.
   */
  void add(TieredRequest request) {
    synchronized (this) {
      dropDone();
      waiting.add(request);
    }
    scheduleNext(time.monotonicNanos());
  }

  /** Returns the number of requests kept here. */
  synchronized int size() {
    return waiting.size();
  }

  private void scheduleNext(long now) {
    TieredRequest next;
    synchronized (this) {
      next = waiting.peek();
    }
    if (next != null) {
      wakeups.by(next.endNanos(), now);
    }
  }

  private void sweep() {
    List<TieredRequest> late = new ArrayList<>(0);
    long now = time.monotonicNanos();
    synchronized (this) {
      dropDone();
      for (TieredRequest next = waiting.peek();
          next != null && next.endNanos() - now <= 0;
          next = waiting.peek()) {
        late.add(waiting.remove());
        dropDone();
      }
    }
    scheduleNext(now);
    // Outside the lock: continued requests may add themselves again.
    late.forEach(TieredRequest::timeOut);
  }

  private void dropDone() {
    for (TieredRequest next = waiting.peek(); next != null && !next.mayWait(); ) {
      waiting.remove();
      next = waiting.peek();
    }
  }
}
