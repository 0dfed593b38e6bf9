package io.throttlekit.concurrency;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A law that several threads teach, one at a time and in the order of time, and that anybody may
 * ask for its ceiling meanwhile. Thread-safe; the listener is told with no lock held.
 */
final class GuardedLaw {
  private final LimiterListener listener;
  private final Object lock = new Object();
  private volatile ConcurrencyLimit law;

  /** Guarded by the lock. */
  private long newestNanos;

  /** Requests that the ceiling kept from the backend, and that the law has not heard of. */
  private final AtomicLong kept = new AtomicLong();

  GuardedLaw(ConcurrencyLimit law, LimiterListener listener, long nowNanos) {
    this.law = law;
    this.listener = listener;
    this.newestNanos = nowNanos;
  }

  int ceiling() {
    return law.ceiling();
  }

  /** The law hears of it with the next sample: whoever is refused takes no lock. */
  void keptFromBackend() {
    kept.getAndIncrement();
  }

  /** Teaches what became of a request; whether the ceiling moved. */
  boolean learn(
      long startNanos, long rttNanos, long nowNanos, int inFlight, boolean full, boolean dropped) {
    int before;
    int now;
    synchronized (lock) {
      if (nowNanos - newestNanos > 0) { // of two threads the later may be here first
        newestNanos = nowNanos;
      }
      before = law.ceiling();
      tellKept(newestNanos);
      law.learn(new Sample(startNanos, rttNanos, newestNanos, inFlight, full, dropped));
      now = law.ceiling();
    }
    return moved(before, now);
  }

  /** Teaches what somebody else has measured; whether the ceiling moved. */
  boolean learn(Sample sample) {
    return learn(
        sample.startNanos(),
        sample.rttNanos(),
        sample.arrivedNanos(),
        sample.inFlight(),
        sample.full(),
        sample.dropped());
  }

  /** Goes on with another law; whether the ceiling moved. */
  boolean replace(ConcurrencyLimit other) {
    int before;
    int now;
    synchronized (lock) {
      before = law.ceiling();
      law = other;
      now = other.ceiling();
    }
    return moved(before, now);
  }

  private void tellKept(long nowNanos) {
    long requests = kept.get() == 0 ? 0 : kept.getAndSet(0);
    if (requests > 0) {
      law.refused(nowNanos, requests);
    }
  }

  private boolean moved(int before, int now) {
    if (before == now) {
      return false;
    }
    try {
      listener.ceilingChanged(before, now);
    } catch (Throwable bug) {
      Tellings.report(bug);
    }
    return true;
  }
}
