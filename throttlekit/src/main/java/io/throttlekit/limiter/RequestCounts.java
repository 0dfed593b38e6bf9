package io.throttlekit.limiter;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The requests of a limiter that are in flight and that wait, and the version of the bound by which
 * they were admitted, in one number that changes atomically. Thread-safe.
 */
final class RequestCounts {
  private static final int BITS = 24;

  /** The most requests in flight, and the most that wait: more than a process can hold. */
  static final int MAX = (1 << BITS) - 1;

  /** From the lowest bit on: waiting requests, those in flight, then the version. */
  static final long ONE_QUEUED = 1;

  static final long ONE_IN_FLIGHT = 1L << BITS;
  private static final long ONE_VERSION = 1L << (2 * BITS);
  private static final long USED = ONE_VERSION - 1;

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
    return (int) (counts >>> BITS) & MAX;
  }

  static int queued(long counts) {
    return (int) counts & MAX;
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

  /**
   * Starts a version, so that no {@link #compareAndSet} succeeds with counts read before. Versions
   * repeat after 2^16 of them.
   */
  void startVersion() {
    counts.getAndAdd(ONE_VERSION);
  }

  static boolean isUsed(long counts) {
    return (counts & USED) != 0;
  }

  private void notifyIfUsed(long before, long now) {
    if (isUsed(before) != isUsed(now)) {
      onUse.run();
    }
  }
}
