package io.throttlekit.limiter;

import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.Sample;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A limit algorithm below a bound, fed by several threads, one at a time and in the order of time.
 * Any thread may read its limit. Thread-safe; the listener is called with no lock held.
 */
final class SynchronizedLimit {
  /** The least time between two ticks, so that hardly any refusal takes the lock. */
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final LimiterListener listener;
  private final LimitBound bound;
  private final Object lock = new Object();
  private volatile ConcurrencyLimit algorithm;

  /** Whether the limit is lowered for a measurement. Written under the lock. */
  private volatile boolean probing;

  /** When the time was last passed to a measurement. Written under the lock. */
  private volatile long tickedNanos;

  /** Guarded by the lock. */
  private long newestNanos;

  /** Requests that the limit kept from the backend, not yet passed to the algorithm. */
  private final AtomicLong refused = new AtomicLong();

  SynchronizedLimit(LimiterBuilder builder, long nowNanos) {
    this.algorithm = builder.algorithm;
    this.listener = builder.listener;
    this.bound = builder.bound;
    this.newestNanos = nowNanos;
    this.tickedNanos = nowNanos;
  }

  /** Returns the limit in effect. */
  int limit() {
    return Math.min(RequestCounts.MAX, Math.min(algorithm.limit(), bound.requests()));
  }

  /** Returns how many requests in flight leave the limit as it is. */
  int restingInFlight() {
    return Math.min(limit(), algorithm.restingInFlight());
  }

  boolean isProbing() {
    return probing;
  }

  /**
   * Counts a refused request. It reaches the algorithm with the next sample, so that a refusal
   * takes no lock.
   */
  void refused() {
    refused.getAndIncrement();
    bound.refused();
  }

  /** Notes a request that was held back for other tenants: not by the limit. */
  void heldBack() {
    bound.heldBack();
  }

  /** Counts a request that has ended, with those that are still in flight. */
  void released(int inFlight) {
    bound.released(inFlight);
  }

  /** Adds a sample. Returns whether the limit changed. */
  boolean learn(Sample sample) {
    int before;
    int now;
    synchronized (lock) {
      advance(sample.arrivedNanos());
      before = algorithm.limit();
      // A plain read first: an unconditional swap would contend with threads that refuse.
      if (refused.get() > 0) {
        algorithm.refused(newestNanos, refused.getAndSet(0));
      }
      algorithm.learn(sample.arrivedAt(newestNanos)); // threads may arrive out of order
      probing = algorithm.isProbing();
      now = algorithm.limit();
    }
    return notifyIfChanged(before, now);
  }

  /**
   * Ends a measurement that has timed out. To be called when the limit is in the way: no sample may
   * arrive any more to end it. Returns whether the limit changed.
   */
  boolean tick(long nowNanos) {
    if (!probing || nowNanos - tickedNanos < TICK_NANOS) {
      return false;
    }
    return changed(() -> {
      tickedNanos = nowNanos;
      advance(nowNanos);
      algorithm.onTick(newestNanos);
    });
  }

  private void advance(long nowNanos) {
    if (nowNanos - newestNanos > 0) {
      newestNanos = nowNanos;
    }
  }

  /** Replaces the algorithm. Returns whether the limit changed. */
  boolean replace(ConcurrencyLimit other) {
    return changed(() -> algorithm = other);
  }

  private boolean changed(Runnable change) {
    int before;
    int now;
    synchronized (lock) {
      before = algorithm.limit();
      change.run();
      probing = algorithm.isProbing();
      now = algorithm.limit();
    }
    return notifyIfChanged(before, now);
  }

  private boolean notifyIfChanged(int before, int now) {
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
