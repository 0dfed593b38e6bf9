package io.throttlekit.service.concurrency;

/**
 * Periods of equal length, one after the other, from the first call on. Times are monotonic ns. Not
 * thread-safe.
 */
public final class Periods {
  private final long nanos;
  private boolean begun;
  private long beganNanos;

  /**
   * @param nanos length of a period, from 1
   */
  public Periods(long nanos) {
    this.nanos = nanos;
  }

  /** Returns how many periods have ended since the last call. */
  public long ended(long nowNanos) {
    if (!begun) {
      begun = true;
      beganNanos = nowNanos;
    }
    long periods = Math.max(0, (nowNanos - beganNanos) / nanos);
    beganNanos += periods * nanos;
    return periods;
  }
}
