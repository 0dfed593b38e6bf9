package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import io.throttlekit.store.DeadlineWheel;
import io.throttlekit.tier.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Ends calls whose time is up, each by its own deadline and at most about 2 ms after it. One timer
 * serves them all. Thread-safe.
 */
final class Deadlines {
  private static final long RESOLUTION_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** While calls are pending, somebody looks this often at what they wait for. */
  private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** A timer that runs this late was kept from running, and so, perhaps, were those who answer. */
  private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final TimeSource time;
  private final Timer timer;
  private final Runnable look;
  private final DeadlineWheel<Ends> wheel;
  private boolean timed;
  private long dueNanos;
  private boolean answersFirst;

  /** A call that ends at a time. */
  abstract static class Ends extends DeadlineWheel.Entry {
    /** Its time is up. Does nothing if it was answered. */
    abstract void late();
  }

  /**
   * Creates an empty one.
   *
   * @param look runs after each look at the pending calls
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

  /** Forgets a call that was answered, or failed. */
  synchronized void remove(Ends call) {
    wheel.remove(call);
  }

  /** How many calls are kept here. */
  synchronized int size() {
    return wheel.size();
  }

  private void sweep(long ownDueNanos) {
    List<Ends> late = new ArrayList<>(0);
    synchronized (this) {
      if (!timed || ownDueNanos != dueNanos) {
        return; // another timer took its place
      }
      long now = time.monotonicNanos();
      if (!answersFirst && now - dueNanos > BUSY_NANOS) {
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
    late.forEach(Ends::late); // without the lock: whoever waits for it goes on here
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
