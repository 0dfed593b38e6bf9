package io.throttlekit.store;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Expires entries at their own deadlines, with one timer for all: about 2 ms late at most on a
 * thread that is free, and later on a busy one, which reads the answers that are ready before.
 *
 * <p>Not thread-safe: the caller uses it, and runs the tasks of its timer, on one thread or under
 * one lock.
 *
 * @param <E> entries with a deadline
 */
public final class Deadlines<E extends DeadlineWheel.Entry> {
  /** Deadlines closer than this to the timer do not move it. */
  private static final long RESOLUTION_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The longest interval of sweeps while there are entries. */
  private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** A timer this late was delayed by other work, so answers may be unread. */
  private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private final TimeSource time;
  private final Scheduler timer;
  private final Consumer<? super E> expired;
  private final LongConsumer swept;
  private final DeadlineWheel<E> wheel;
  private boolean timed;
  private long dueNanos;
  private boolean readFirst;

  /**
   * Creates an object without entries.
   *
   * @param timer runs tasks on the thread or under the lock of the caller
   * @param expired receives each entry whose deadline has passed, and may add and remove entries
   * @param swept notified after each sweep, with the time by which entries were expired; at least
   *     every 50 ms while there are entries
   */
  public Deadlines(
      TimeSource time, Scheduler timer, Consumer<? super E> expired, LongConsumer swept) {
    this.time = time;
    this.timer = timer;
    this.expired = expired;
    this.swept = swept;
    this.wheel = new DeadlineWheel<>(time.monotonicNanos());
  }

  /**
   * Adds an entry that is not pending.
   *
   * @param deadlineNanos by the monotonic clock; may have passed
   */
  public void add(E entry, long deadlineNanos) {
    wheel.add(entry, deadlineNanos);
    if (!timed || deadlineNanos - dueNanos < -RESOLUTION_NANOS) {
      schedule(deadlineNanos);
    }
  }

  /** Removes an entry; has no effect if it is not pending. */
  public void remove(E entry) {
    wheel.remove(entry);
  }

  /** Returns the number of pending entries. */
  public int size() {
    return wheel.size();
  }

  /** Sweeps within 50 ms, also without entries. */
  public void sweepAgain() {
    if (!timed) {
      schedule(time.monotonicNanos() + MAX_PAUSE_NANOS);
    }
  }

  private void sweep(long ownDueNanos) {
    if (!timed || ownDueNanos != dueNanos) {
      return; // an earlier timer has replaced this one
    }
    long now = time.monotonicNanos();
    if (!readFirst && now - dueNanos > BUSY_NANOS) {
      // Answers that are ready are read first; then the sweep runs without another delay.
      readFirst = true;
      schedule(now);
      return;
    }
    readFirst = false;
    timed = false;
    wheel.expire(now, expired);
    if (wheel.size() > 0) {
      schedule(wheel.nextNanos());
    }
    swept.accept(now);
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
