package io.throttlekit.tier;

import io.throttlekit.TimeSource;
import java.util.concurrent.TimeUnit;

/**
 * Detects that the monotonic clock stopped while the wall clock went on: the machine was suspended,
 * or restored from a snapshot. Windows that this process times by its monotonic clock may have
 * ended.
 *
 * <p>A wall clock that is stepped forward looks the same. A wall clock that is not yet set after a
 * restore cannot be detected. Thread-safe.
 */
final class Suspension {
  /** The wall clock may gain this much between two readings: NTP slews smaller corrections. */
  static final long TOLERANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * The interval of readings: reading the wall clock for each decision would cost as much as the
   * decision.
   */
  static final long EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** The longest reading of both clocks that still counts as one moment. */
  private static final long MAX_READING_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private final TimeSource time;
  private long aheadNanos;

  Suspension(TimeSource time) {
    this.time = time;
    this.aheadNanos = TimeUnit.MILLISECONDS.toNanos(time.wallMillis()) - time.monotonicNanos();
  }

  /** Compares the clocks; returns true once for each suspension. */
  synchronized boolean isOver() {
    long before = time.monotonicNanos();
    long ahead = TimeUnit.MILLISECONDS.toNanos(time.wallMillis()) - before;
    if (time.monotonicNanos() - before > MAX_READING_NANOS) {
      return false; // the next comparison decides
    }
    boolean suspended = ahead - aheadNanos > TOLERANCE_NANOS;
    aheadNanos = ahead;
    return suspended;
  }
}
