package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import io.throttlekit.store.DeadlineWheel;
import io.throttlekit.tier.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Ends calls at their own deadlines, at most about 2 ms late, with one timer for all. Thread-safe.
 */
final class Deadlines {
  /** Deadlines closer than this to the timer do not move it. */
  private static final long RESOLUTION_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The interval, while calls are pending, at which the oldest is reported. */
  private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** A timer this late was delayed, and so may be the threads with answers. */
  private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final TimeSource time;
  private final Timer timer;
  private final Runnable look;
  private final DeadlineWheel<Ends> wheel;
  private boolean timed;
  private long dueNanos;
  private boolean answersFirst;

  /** A call with a deadline. */
  abstract static class Ends extends DeadlineWheel.Entry {
    /** Ends the call at its deadline; has no effect if it was answered. */
    abstract void late();
  }

  /**
   * Creates an object without calls.
   *
   * @param look runs after each sweep of the pending calls
   */
  Deadlines(TimeSource time, Timer timer, Runnable look) {
    this.time = time;
    this.timer = timer;
    this.look = look;
    this.wheel = new DeadlineWheel<>(time.monotonicNanos());
  }

  synchronized void add(Ends call, long deadlineNanos) {
    wheel.add(call, deadlineNanos);
    if (!timed || deadlineNanos - dueNanos < -RESOLUTION_NANOS) {
      schedule(deadlineNanos);
    }
  }

  /** Removes a call that was answered or failed. */
  synchronized void remove(Ends call) {
    wheel.remove(call);
  }

  /** Returns the number of pending calls. */
  synchronized int size() {
    return wheel.size();
  }

  private void sweep(long ownDueNanos) {
    List<Ends> late = new ArrayList<>(0);
    synchronized (this) {
      if (!timed || ownDueNanos != dueNanos) {
        return; // a newer timer has replaced this one
      }
      long now = time.monotonicNanos();
      if (!answersFirst && now - dueNanos > BUSY_NANOS) {
        // Answers that are ready run first; then the sweep runs without another delay.
        answersFirst = true;
        schedule(now);
        return;
      }
      answersFirst = false;
      timed = false;
      wheel.expire(now, late::add);
      if (wheel.size() > 0) {
        schedule(wheel.nextNanos());
      }
    }
    late.forEach(Ends::late); // without the lock: callers continue on this thread
    look.run();
  }

  private void schedule(long atNanos) {
    long now = time.monotonicNanos();
    long pause = Math.clamp(atNanos - now, RESOLUTION_NANOS, MAX_PAUSE_NANOS);
    long due = now + pause;
    timed = true;
    dueNanos = due;
    timer.runAfter(pause, () -> sweep(due));
  }
}
