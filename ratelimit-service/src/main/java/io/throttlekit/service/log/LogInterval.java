package io.throttlekit.service.log;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Allows one log line per interval, the first one at once. Thread-safe. */
public final class LogInterval {
  private final long nanos;
  private final AtomicLong nextNanos;

  /**
   * Creates an interval between lines.
   *
   * @param nowNanos monotonic time from which the first line is allowed
   */
  public LogInterval(Duration interval, long nowNanos) {
    this.nanos = interval.toNanos();
    this.nextNanos = new AtomicLong(nowNanos);
  }

  /** Returns whether a line was allowed at or after a time. */
  public boolean isAllowedSince(long sinceNanos) {
    return nextNanos.get() - nanos - sinceNanos >= 0;
  }

  /** Allows the next line from now on, because the last one was not written. */
  public void reopen(long nowNanos) {
    nextNanos.set(nowNanos);
  }

  /** Returns whether a line may be logged now; if so, the next one is due after the interval. */
  public boolean isDue(long nowNanos) {
    long next = nextNanos.get();
    // A difference, because monotonic time may overflow; the CAS lets one of several threads log.
    return nowNanos - next >= 0 && nextNanos.compareAndSet(next, nowNanos + nanos);
  }
}
