package io.throttlekit.redis;

import io.netty.channel.EventLoop;
import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * Fails calls whose time is up. All have about as long, so they are kept in the order in which they
 * came, and one timer serves them all. Used on one event loop only.
 */
final class Deadlines {
  private static final long FINEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final EventLoop loop;
  private final TimeSource time;
  private final String lateInWords;
  private final String lateForCaller;
  private final Failure kind;
  private final Expired expired;
  private final Queue<Call<?>> waiting = new ArrayDeque<>();
  private boolean timed;

  /** Is told of calls whose time was up. */
  @FunctionalInterface
  interface Expired {
    void failed(int calls, Failure kind, String inWords);
  }

  /**
   * Tells {@code expired} of those that are failed.
   *
   * @param millis how long all of them have, for people
   * @param kind of failure that it is
   */
  Deadlines(EventLoop loop, TimeSource time, long millis, Failure kind, Expired expired) {
    this.loop = loop;
    this.time = time;
    this.lateInWords = Failures.late(millis);
    this.lateForCaller = Failures.lateForCaller(millis);
    this.kind = kind;
    this.expired = expired;
  }

  void add(Call<?> call) {
    dropAnswered();
    waiting.add(call);
    if (!timed) {
      timed = true;
      schedule(call);
    }
  }

  /** How many calls are kept here. */
  int size() {
    return waiting.size();
  }

  /** An answered call would be kept in memory until its time is up. */
  private void dropAnswered() {
    for (Call<?> call = waiting.peek(); call != null && call.answer.isDone(); ) {
      waiting.remove();
      call = waiting.peek();
    }
  }

  private void sweep() {
    long now = time.monotonicNanos();
    int failed = 0;
    for (Call<?> call = waiting.peek(); call != null; call = waiting.peek()) {
      if (!call.answer.isDone() && call.deadlineNanos - now > 0) {
        break;
      }
      waiting.remove();
      failed += call.answer.completeExceptionally(new StoreException(lateForCaller, null)) ? 1 : 0;
    }
    Call<?> next = waiting.peek();
    timed = next != null;
    if (next != null) {
      schedule(next);
    }
    if (failed > 0) {
      expired.failed(failed, kind, lateInWords);
    }
  }

  private void schedule(Call<?> next) {
    long left = next.deadlineNanos - time.monotonicNanos();
    var _ = loop.schedule(this::sweep, Math.max(FINEST_NANOS, left), TimeUnit.NANOSECONDS);
  }
}
