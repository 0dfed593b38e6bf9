package io.throttlekit;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The timers for events with times of their own. One timer that runs early enough serves all later
 * events; a timer per event would wake a thread for each. A timer is started only if it is earlier
 * than all that run, so each is earlier than all before it. Times are monotonic ns. Thread-safe.
 */
public final class Wakeups {
  private final Scheduler timer;
  private final long resolutionNanos;
  private final Runnable wake;

  /** The due times of the timers that have not run, the earliest last. */
  private final Deque<Long> due = new ArrayDeque<>();

  /**
   * Creates an object without timers.
   *
   * @param resolutionNanos the shortest timer, from 1: an event that is due earlier is late by less
   *     than this
   * @param wake run by each timer; handles all due events, and calls {@link #by} for the next one
   */
  public Wakeups(Scheduler timer, long resolutionNanos, Runnable wake) {
    this.timer = timer;
    this.resolutionNanos = resolutionNanos;
    this.wake = wake;
  }

  /** Starts a timer for an event at {@code endNanos}, unless an earlier one is running. */
  public void by(long endNanos, long nowNanos) {
    long nanos = Math.max(resolutionNanos, endNanos - nowNanos);
    long dueNanos = nowNanos + nanos;
    synchronized (due) {
      Long earliest = due.peekLast();
      if (earliest != null && earliest - dueNanos <= 0) { // by difference: can overflow
        return;
      }
      due.addLast(dueNanos);
    }
    timer.runAfter(
        nanos,
        () -> {
          synchronized (due) {
            due.removeLastOccurrence(dueNanos);
          }
          wake.run();
        });
  }
}
