package io.throttlekit.tier;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
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
  private final Timer timer;
  private final Queue<Waiting> waiting = new PriorityQueue<>();
  private final Wakeups wakeups = new Wakeups(RESOLUTION_NANOS);

  private record Waiting(TieredRequest request, long endNanos) implements Comparable<Waiting> {
    @Override
    public int compareTo(Waiting other) {
      return Long.signum(endNanos - other.endNanos); // by difference: monotonic times can overflow
    }
  }

  WaitTimeouts(TimeSource time, Timer timer) {
    this.time = time;
    this.timer = timer;
  }

  /**
   * Ends the wait of {@code request} at its timeout, unless it no longer waits by then.
   *
   * @param waitNanos wait timeout from now
   */
  void add(TieredRequest request, long waitNanos) {
    long now = time.monotonicNanos();
    synchronized (this) {
      dropDone();
      waiting.add(new Waiting(request, now + Math.max(0, waitNanos))); // a deadline may have passed
    }
    scheduleNext(now);
  }

  /** Returns the failure of a request whose lease did not arrive before its timeout. */
  static StoreException atItsEnd() {
    return StoreException.late("no lease came while the request could wait");
  }

  /** Returns the number of requests kept here. */
  synchronized int size() {
    return waiting.size();
  }

  private void scheduleNext(long now) {
    long nanos;
    synchronized (this) {
      Waiting next = waiting.peek();
      nanos = next == null ? 0 : wakeups.begin(next.endNanos, now);
    }
    if (nanos > 0) {
      timer.runAfter(nanos, () -> sweep(now + nanos));
    }
  }

  private void sweep(long dueNanos) {
    List<TieredRequest> late = new ArrayList<>(0);
    long now = time.monotonicNanos();
    synchronized (this) {
      wakeups.ran(dueNanos);
      dropDone();
      for (Waiting next = waiting.peek();
          next != null && next.endNanos - now <= 0;
          next = waiting.peek()) {
        late.add(waiting.remove().request);
        dropDone();
      }
    }
    scheduleNext(now);
    // Outside the lock: continued requests may add themselves again.
    late.forEach(TieredRequest::timeOut);
  }

  private void dropDone() {
    for (Waiting next = waiting.peek(); next != null && !next.request.mayWait(); ) {
      waiting.remove();
      next = waiting.peek();
    }
  }
}
