package io.throttlekit.tier;

import io.throttlekit.TimeSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * Ends the waiting of requests that have waited for leases long enough.
 *
 * <p>All may wait as long, so they are kept in the order in which they came, and one timer serves
 * them all: a timer for each would wake a thread for each. Thread-safe.
 */
final class Patience {
  private static final long FINEST_NANOS = 1_000_000;

  private final TimeSource time;
  private final Timer timer;
  private final long patienceNanos;
  private final Queue<Waiting> waiting = new ArrayDeque<>();
  private boolean timed;

  private record Waiting(TieredRequest request, long endNanos) {}

  Patience(TimeSource time, Timer timer, long patienceNanos) {
    this.time = time;
    this.timer = timer;
    this.patienceNanos = patienceNanos;
  }

  /** Has {@code request} told when its time is up, unless it waits no more by then. */
  void add(TieredRequest request) {
    synchronized (this) {
      dropDone();
      waiting.add(new Waiting(request, time.monotonicNanos() + patienceNanos));
      if (timed) {
        return;
      }
      timed = true;
    }
    timer.runAfter(patienceNanos, this::sweep);
  }

  /** How many requests are kept here. */
  synchronized int size() {
    return waiting.size();
  }

  private void sweep() {
    List<TieredRequest> late = new ArrayList<>(0);
    long left;
    synchronized (this) {
      long now = time.monotonicNanos();
      dropDone();
      for (Waiting next = waiting.peek();
          next != null && next.endNanos - now <= 0;
          next = waiting.peek()) {
        late.add(waiting.remove().request);
        dropDone();
      }
      Waiting next = waiting.peek();
      timed = next != null;
      left = next == null ? 0 : next.endNanos - now;
    }
    if (left > 0) {
      timer.runAfter(Math.max(FINEST_NANOS, left), this::sweep);
    }
    late.forEach(TieredRequest::outOfPatience);
  }

  private void dropDone() {
    for (Waiting next = waiting.peek(); next != null && !next.request.mayWait(); ) {
      waiting.remove();
      next = waiting.peek();
    }
  }
}
