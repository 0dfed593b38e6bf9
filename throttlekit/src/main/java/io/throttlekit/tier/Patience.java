package io.throttlekit.tier;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * Ends the waiting of requests that have waited for leases long enough.
 *
 * <p>One timer serves all that may wait equally long: a timer for each would wake a thread for
 * each. Thread-safe.
 */
final class Patience {
  private static final long FINEST_NANOS = 1_000_000;

  private final TimeSource time;
  private final Timer timer;
  private final long patienceNanos;
  private final Queue<Waiting> waiting = new PriorityQueue<>();

  /** Whether a timer runs, and when the one that ends first does. */
  private boolean timed;

  private long timedNanos;

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
    long due;
    synchronized (this) {
      Waiting next = waiting.peek();
      if (next == null) {
        return;
      }
      due = now + Math.max(FINEST_NANOS, next.endNanos - now);
      if (timed && timedNanos - due <= 0) {
        return;
      }
      timed = true;
      timedNanos = due;
    }
    timer.runAfter(due - now, () -> sweep(due));
  }

  private void sweep(long dueNanos) {
    List<TieredRequest> late = new ArrayList<>(0);
    long now = time.monotonicNanos();
    synchronized (this) {
      timed &= dueNanos != timedNanos;
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
