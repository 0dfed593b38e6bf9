package io.throttlekit.limiter;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The requests of a limiter that are in flight and that wait, in one number that changes
 * atomically. Thread-safe.
 */
final class RequestCounts {
  /** Requests in flight are the upper 32 bits, waiting requests the lower 32. */
  static final long ONE_IN_FLIGHT = 1L << 32;

  static final long ONE_QUEUED = 1;

  private final AtomicLong counts = new AtomicLong();
  private final Runnable onUse;

  /**
   * Creates counts of 0.
   *
   * @param onUse called after the first request has come, and after the last one has left
   */
  RequestCounts(Runnable onUse) {
    this.onUse = onUse;
  }

  static int inFlight(long counts) {
    return (int) (counts >>> 32);
  }

  static int queued(long counts) {
    return (int) counts;
  }

  long get() {
    return counts.get();
  }

  /** Adds to the counts, and returns the new ones. */
  long add(long change) {
    long now = counts.addAndGet(change);
    notifyIfUsed(now - change, now);
    return now;
  }

  /** Replaces the counts and returns true, unless they are no longer {@code before}. */
  boolean compareAndSet(long before, long now) {
    boolean changed = counts.compareAndSet(before, now);
    if (changed) {
      notifyIfUsed(before, now);
    }
    return changed;
  }

  private void notifyIfUsed(long before, long now) {
    if ((before == 0) != (now == 0)) {
      onUse.run();
    }
  }
}
