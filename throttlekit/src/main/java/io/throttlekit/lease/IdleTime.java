package io.throttlekit.lease;

import io.throttlekit.MonotonicSpan;

/**
 * The time without a request after which units of a cell are idle, and the time after which a
 * source that had nothing left may have some. Not thread-safe; guarded by its cell.
 *
 * <p>Units of a counter that no tenants share are idle after {@code return_idle_after}. Those of a
 * tenant are idle earlier, so that its requests find them in another process or region within the
 * window: after some mean gaps between its requests here, from an eighth to half of the window. A
 * shorter time would return units of tenants that are only slow, and each return costs two calls:
 * itself, and the lease after it. {@code bin/bench fairness} shows the calls.
 */
final class IdleTime {
  /** Mean gaps: of requests that come at random, one gap in 150 is longer. */
  private static final int GAPS = 5;

  /** The shortest and the longest time, as parts of the window. */
  private static final int MIN_PART = 8;

  private static final int MAX_PART = 2;

  /** The part of the window after which an exhausted source gets the first request. */
  private static final int RETRY_PART = 4;

  /** How many gaps the mean is of. */
  private static final int MEAN_OF = 8;

  /** The most that a time is shifted by: much more than from a quarter to a whole window. */
  private static final int MAX_SHIFT = 40;

  private final long configuredNanos;
  private final long windowNanos;
  private final boolean shared;

  /** The mean gap between requests, each a window at most. */
  private long gapNanos;

  /**
   * Creates an object for a cell without requests.
   *
   * @param returnIdleAfterMillis 0 for never
   * @param shared whether tenants share the counter
   */
  IdleTime(long returnIdleAfterMillis, long windowMillis, boolean shared) {
    this.configuredNanos = MonotonicSpan.nanos(returnIdleAfterMillis);
    this.windowNanos = MonotonicSpan.nanos(windowMillis);
    this.shared = shared;
    this.gapNanos = windowNanos / MEAN_OF; // units of a single request are idle after the longest
  }

  /** Observes the gap between two requests. */
  void observe(long nanos) {
    if (shared) {
      gapNanos += (Math.min(nanos, windowNanos) - gapNanos) / MEAN_OF;
    }
  }

  /** Returns whether units are never returned before their window ends. */
  boolean isNever() {
    return configuredNanos == 0;
  }

  /** Returns the ns without a request after which units are idle. */
  long nanos() {
    if (!shared) {
      return configuredNanos;
    }
    long gaps = gapNanos < windowNanos / GAPS ? GAPS * gapNanos : windowNanos; // cannot overflow
    return Math.clamp(gaps, minNanos(), Math.min(configuredNanos, windowNanos / MAX_PART));
  }

  /** Returns the shortest time that {@link #nanos} may return. */
  long minNanos() {
    return shared ? Math.min(configuredNanos, windowNanos / MIN_PART) : configuredNanos;
  }

  /**
   * Returns for how many ns an exhausted source gets no request. For tenants, it is four times as
   * long after each refusal but the first: one that has used its part is refused every time.
   *
   * @param refusals of the window, in a row
   */
  long retryNanos(int refusals) {
    if (!shared) {
      return configuredNanos;
    }
    long first = Math.min(configuredNanos, windowNanos / RETRY_PART);
    int shift = 2 * Math.clamp(refusals - 1, 0, MAX_SHIFT / 2);
    return first > windowNanos >> shift ? windowNanos : first << shift;
  }
}
