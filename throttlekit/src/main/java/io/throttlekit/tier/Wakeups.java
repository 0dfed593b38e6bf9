package io.throttlekit.tier;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The timers for events with times of their own. One timer that runs early enough serves all later
 * events; a timer per event would wake a thread for each. A timer is started only if it is earlier
 * than all that run, so each is earlier than all before it. Times are monotonic ns. Not
 * thread-safe.
 */
public final class Wakeups {
  private final long resolutionNanos;

  /** The due times of the timers that have not run, the earliest last. */
  private final Deque<Long> due = new ArrayDeque<>();

  /**
   * Creates an object without timers.
   *
   * @param resolutionNanos the shortest timer, from 1: an event that is due earlier is late by less
   *     than this
   */
  public Wakeups(long resolutionNanos) {
    this.resolutionNanos = resolutionNanos;
  }

  /**
   * Returns in how many ns a timer must run for an event at {@code endNanos}; 0 when an earlier one
   * is running. The caller starts that timer, which calls {@link #ran}.
   */
  public long begin(long endNanos, long nowNanos) {
    long nanos = Math.max(resolutionNanos, endNanos - nowNanos);
    Long earliest = due.peekLast();
    if (earliest != null && earliest - (nowNanos + nanos) <= 0) { // by difference: can overflow
      return 0;
    }
    due.addLast(nowNanos + nanos);
    return nanos;
  }

  /** Records that the timer for {@code dueNanos} has run. */
  public void ran(long dueNanos) {
    due.removeLastOccurrence(dueNanos);
  }
}
