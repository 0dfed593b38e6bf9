package io.throttlekit.tier;

import io.throttlekit.TimeSource;
import java.util.concurrent.TimeUnit;

/**
 * Notices that the monotonic clock has stood still while the wall clock went on: the machine was
 * suspended, or restored from a snapshot, and windows that this process counts by its monotonic
 * clock may be over.
 *
 * <p>A wall clock that was set forward looks the same. One that has not been set yet after a
 * restore cannot be noticed. Thread-safe.
 */
final class Suspension {
  /** So far the wall clock may get ahead between two readings: NTP corrects less without a step. */
  static final long TOLERANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Reading the wall clock for each decision would cost as much as the decision. */
  static final long EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** The two clocks of a reading that took longer were not read together. */
  private static final long MAX_READING_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private final TimeSource time;
  private volatile long checkedNanos;
  private long aheadNanos;

  Suspension(TimeSource time) {
    this.time = time;
    this.checkedNanos = time.monotonicNanos();
    this.aheadNanos = TimeUnit.MILLISECONDS.toNanos(time.wallMillis()) - checkedNanos;
  }

  /** Whether the clocks have not been compared for a while. */
  boolean isDue(long now) {
    return now - checkedNanos >= EVERY_NANOS;
  }

  /** Compares the clocks; true once for each suspension. */
  synchronized boolean isOver() {
    long before = time.monotonicNanos();
    long ahead = TimeUnit.MILLISECONDS.toNanos(time.wallMillis()) - before;
    checkedNanos = before;
    if (time.monotonicNanos() - before > MAX_READING_NANOS) {
      return false; // the next comparison decides
    }
    boolean suspended = ahead - aheadNanos > TOLERANCE_NANOS;
    aheadNanos = ahead;
    return suspended;
  }
}
