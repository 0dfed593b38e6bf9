package io.throttlekit.redis;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.throttlekit.TimeSource;
import io.throttlekit.store.DeadlineWheel;
import io.throttlekit.store.StoreException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Fails calls at their own deadlines, at most about 2 ms late, with one timer for all. Used on one
 * event loop only.
 */
final class Deadlines {
  /** Deadlines closer than this to the timer do not move it. */
  private static final long RESOLUTION_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The interval, while calls are pending, at which the lane checks its oldest round trips. */
  private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** A timer this late was delayed by other work of the loop, so answers may be unread. */
  private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private final EventLoop loop;
  private final TimeSource time;
  private final Swept swept;
  private final DeadlineWheel<Call<?>> wheel;
  private final Consumer<Call<?>> fail = this::fail;
  private @Nullable ScheduledFuture<?> timer;
  private long dueNanos;
  private boolean readFirst;
  private int late;
  private int lateLeases;

  /** Notified after each sweep of the pending calls. */
  @FunctionalInterface
  interface Swept {
    /**
     * Reports a sweep.
     *
     * @param late calls that were failed by this sweep
     * @param lateLeases the same for calls with the lease deadline
     * @param nowNanos the time by which calls were failed
     */
    void swept(int late, int lateLeases, long nowNanos);
  }

  Deadlines(EventLoop loop, TimeSource time, Swept swept) {
    this.loop = loop;
    this.time = time;
    this.swept = swept;
    this.wheel = new DeadlineWheel<>(time.monotonicNanos());
  }

  void add(Call<?> call) {
    wheel.add(call, call.deadlineNanos);
    if (timer == null || call.deadlineNanos - dueNanos < -RESOLUTION_NANOS) {
      schedule(call.deadlineNanos);
    }
  }

  /** Removes calls that were answered or failed. */
  void remove(List<Call<?>> calls) {
    for (int i = 0; i < calls.size(); i++) {
      wheel.remove(calls.get(i));
    }
  }

  /** Returns the number of pending calls. */
  int size() {
    return wheel.size();
  }

  private void sweep() {
    long now = time.monotonicNanos();
    if (!readFirst && now - dueNanos > BUSY_NANOS) {
      readFirst = true; // the loop reads its connections before it runs this
      timer = loop.schedule(this::sweep, 0, TimeUnit.NANOSECONDS);
      return;
    }
    readFirst = false;
    timer = null;
    late = 0;
    lateLeases = 0;
    wheel.expire(now, fail);
    if (wheel.size() > 0) {
      schedule(wheel.nextNanos());
    }
    swept.swept(late, lateLeases, now);
  }

  private void fail(Call<?> call) {
    if (call.answer.completeExceptionally(StoreException.late(Failures.LATE_MAY_BE_COUNTED))) {
      late += call.patient ? 0 : 1;
      lateLeases += call.patient ? 1 : 0;
    }
  }

  private void schedule(long atNanos) {
    ScheduledFuture<?> before = timer;
    if (before != null) {
      before.cancel(false);
    }
    long now = time.monotonicNanos();
    long pause = Math.clamp(atNanos - now, RESOLUTION_NANOS, MAX_PAUSE_NANOS);
    dueNanos = now + pause;
    timer = loop.schedule(this::sweep, pause, TimeUnit.NANOSECONDS);
  }
}
