package io.throttlekit.tier;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The timers that run for things which end at times of their own: one that runs early enough serves
 * all, and a timer for each would wake a thread for each. No timer is begun while one runs that is
 * as early, so each is earlier than all before it. Times are monotonic ns. For one thread at a
 * time.
 */
public final class Wakeups {
  private final long finestNanos;

  /** When those run that were begun and have not run, the earliest last. */
  private final Deque<Long> due = new ArrayDeque<>();

  /**
   * None yet.
   *
   * @param finestNanos the least that a timer is begun for, from 1: what ends earlier ends a little
   *     late
   */
  public Wakeups(long finestNanos) {
    this.finestNanos = finestNanos;
  }

  /**
   * In how many ns a timer must run for what ends then; 0 when one does already that is as early.
   * Whoever is told a number begins the timer, and has it say that it {@link #ran}.
   */
  public long begin(long endNanos, long nowNanos) {
    long nanos = Math.max(finestNanos, endNanos - nowNanos);
    Long earliest = due.peekLast();
    if (earliest != null && earliest - (nowNanos + nanos) <= 0) {
      return 0;
    }
    due.addLast(nowNanos + nanos);
    return nanos;
  }

  /** The timer that was to run then has. */
  public void ran(long dueNanos) {
    due.removeLastOccurrence(dueNanos);
  }
}
