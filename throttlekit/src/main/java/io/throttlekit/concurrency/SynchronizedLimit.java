package io.throttlekit.concurrency;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A limit algorithm that is fed by several threads, one at a time and in the order of time, and
 * whose limit any thread may read. Thread-safe; the listener is called with no lock held.
 */
final class SynchronizedLimit {
  private final LimiterListener listener;
  private final Object lock = new Object();
  private volatile ConcurrencyLimit algorithm;

  /** Guarded by the lock. */
  private long newestNanos;

  /** Requests that the limit kept from the backend, not yet passed to the algorithm. */
  private final AtomicLong kept = new AtomicLong();

  SynchronizedLimit(ConcurrencyLimit algorithm, LimiterListener listener, long nowNanos) {
    this.algorithm = algorithm;
    this.listener = listener;
    this.newestNanos = nowNanos;
  }

  int limit() {
    return algorithm.limit();
  }

  /**
   * Counts a refused request. It reaches the algorithm with the next sample, so that a refusal
   * takes no lock.
   */
  void keptFromBackend() {
    kept.getAndIncrement();
  }

  /** Adds a sample. Returns whether the limit changed. */
  boolean learn(
      long startNanos, long rttNanos, long nowNanos, int inFlight, boolean full, boolean dropped) {
    int before;
    int now;
    synchronized (lock) {
      if (nowNanos - newestNanos > 0) { // threads may arrive out of order
        newestNanos = nowNanos;
      }
      before = algorithm.limit();
      reportKept(newestNanos);
      algorithm.learn(new Sample(startNanos, rttNanos, newestNanos, inFlight, full, dropped));
      now = algorithm.limit();
    }
    return moved(before, now);
  }

  /** Adds a sample that was measured elsewhere. Returns whether the limit changed. */
  boolean learn(Sample sample) {
    return learn(
        sample.startNanos(),
        sample.rttNanos(),
        sample.arrivedNanos(),
        sample.inFlight(),
        sample.full(),
        sample.dropped());
  }

  /** Replaces the algorithm. Returns whether the limit changed. */
  boolean replace(ConcurrencyLimit other) {
    int before;
    int now;
    synchronized (lock) {
      before = algorithm.limit();
      algorithm = other;
      now = other.limit();
    }
    return moved(before, now);
  }

  private void reportKept(long nowNanos) {
    // A plain read first: an unconditional swap would contend with threads that refuse.
    long requests = kept.get() == 0 ? 0 : kept.getAndSet(0);
    if (requests > 0) {
      algorithm.refused(nowNanos, requests);
    }
  }

  private boolean moved(int before, int now) {
    if (before == now) {
      return false;
    }
    try {
      listener.limitChanged(before, now);
    } catch (Throwable bug) {
      CallbackQueue.report(bug);
    }
    return true;
  }
}
