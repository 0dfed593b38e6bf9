package io.throttlekit.tier;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/** Ends the waiting of requests that have waited for leases long enough. Thread-safe. */
final class Patience {
  private static final long FINEST_NANOS = 1_000_000;

  private final TimeSource time;
  private final Timer timer;
  private final long patienceNanos;
  private final Queue<Waiting> waiting = new PriorityQueue<>();
  private final Wakeups wakeups = new Wakeups(FINEST_NANOS);

  private record Waiting(TieredRequest request, long endNanos) implements Comparable<Waiting> {
    @Override
    public int compareTo(Waiting other) {
      return Long.signum(endNanos - other.endNanos);
    }
  }

  Patience(TimeSource time, Timer timer, long patienceNanos) {
    this.time = time;
    this.timer = timer;
    this.patienceNanos = patienceNanos;
  }

  /**
   * Has {@code request} told when its time is up, unless it waits no more by then.
   *
   * @param atMostNanos how long it may wait, where that is less than others may
   */
  void add(TieredRequest request, long atMostNanos) {
    long now = time.monotonicNanos();
    synchronized (this) {
      dropDone();
      waiting.add(new Waiting(request, now + Math.clamp(atMostNanos, 0, patienceNanos)));
    }
    scheduleNext(now);
  }

  /** What is said of a request whose lease did not come in time. */
  StoreException atItsEnd() {
    long most = TimeUnit.NANOSECONDS.toMillis(patienceNanos);
    return new StoreException("the store granted no lease within " + most + " ms", null);
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
