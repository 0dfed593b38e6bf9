package io.throttlekit.tier;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;

/** Ends the waiting of requests that have waited for leases long enough. Thread-safe. */
final class Patience {
  private static final long FINEST_NANOS = 1_000_000;

  private final TimeSource time;
  private final Timer timer;
  private final Queue<Waiting> waiting = new PriorityQueue<>();
  private final Wakeups wakeups = new Wakeups(FINEST_NANOS);

  private record Waiting(TieredRequest request, long endNanos) implements Comparable<Waiting> {
    @Override
    public int compareTo(Waiting other) {
      return Long.signum(endNanos - other.endNanos);
    }
  }

  Patience(TimeSource time, Timer timer) {
    this.time = time;
    this.timer = timer;
  }

  /**
   * Has {@code request} told when its time is up, unless it waits no more by then.
   *
   * @param waitNanos how long it may wait from now
   */
  void add(TieredRequest request, long waitNanos) {
    long now = time.monotonicNanos();
    synchronized (this) {
      dropDone();
      waiting.add(new Waiting(request, now + Math.max(0, waitNanos)));
    }
    scheduleNext(now);
  }

  /** Returns the failure of a request whose lease did not come in time. */
  static StoreException atItsEnd() {
    return StoreException.late("no lease came while the request could wait");
  }

  /** How many requests are kept here. */
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
    late.forEach(TieredRequest::outOfPatience);
  }

  private void dropDone() {
    for (Waiting next = waiting.peek(); next != null && !next.request.mayWait(); ) {
      waiting.remove();
      next = waiting.peek();
    }
  }
}
