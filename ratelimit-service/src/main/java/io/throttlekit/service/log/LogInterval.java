package io.throttlekit.service.log;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Lets one line in an interval be logged, the first one at once. Thread-safe. */
public final class LogInterval {
  private final long nanos;
  private final AtomicLong nextNanos;

  /**
   * An interval between lines.
   *
   * @param nowNanos monotonic, from which the first one may be logged
   */
  public LogInterval(Duration interval, long nowNanos) {
    this.nanos = interval.toNanos();
    this.nextNanos = new AtomicLong(nowNanos);
  }

  /** Returns whether a line may be logged now, and if so, no other for an interval. */
  public boolean isDue(long nowNanos) {
    long next = nextNanos.get();
    return nowNanos - next >= 0 && nextNanos.compareAndSet(next, nowNanos + nanos);
  }
}
