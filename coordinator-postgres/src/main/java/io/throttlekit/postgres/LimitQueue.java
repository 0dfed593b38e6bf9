package io.throttlekit.postgres;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.StoreListener.Failure;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The order in which calls for concurrency limits take turns at few connections.
 *
 * <p>The heartbeat of a node that may lose its share goes first: the one whose share lasts shortest
 * and still long enough for an answer. All other calls follow, on all connections but one: first
 * nodes that leave, then those that join or are fenced, the latest first, because requests wait for
 * it and the others have been refused meanwhile. A limit has one call at a time, so that one whose
 * row is locked occupies one connection.
 *
 * <p>Where such heartbeats have waited for long, nodes that join are refused at once: each of them
 * would send heartbeats, too. A call that waits too long is not made. Thread-safe and non-blocking.
 */
final class LimitQueue {
  /** The wait of a heartbeat that shows that there is no room for other limits. */
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** For how long such a wait counts: about a heartbeat's interval. */
  private static final long LATE_FOR_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The most that a call is expected to take; one that took longer was an exception. */
  private static final long MAX_CALL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final String NOT_IN_TIME = "not sent in time: earlier calls wait for PostgreSQL";
  private static final String NO_ROOM =
      "not sent: PostgreSQL is late to answer for the limits that are in use";

  private final int connections;
  private final long maxWaitNanos;
  private final TimeSource time;
  private final Scheduler timer;
  private final StoreListener listener;
  private final BooleanSupplier isDown;

  // Guarded by this.
  private final List<Turn<?>> waiting = new ArrayList<>();
  private final Set<String> busy = new HashSet<>();
  private int others;
  private long callNanos;
  private boolean wasLate;
  private long lateNanos;
  private boolean closed;

  /**
   * Creates a queue.
   *
   * @param connections the most calls at once, from 1
   * @param maxWaitNanos the longest wait for a turn
   * @param isDown whether calls fail at once, so that none has to wait for a turn
   */
  LimitQueue(
      int connections,
      long maxWaitNanos,
      TimeSource time,
      Scheduler timer,
      StoreListener listener,
      BooleanSupplier isDown) {
    this.connections = connections;
    this.maxWaitNanos = maxWaitNanos;
    this.time = time;
    this.timer = timer;
    this.listener = listener;
    this.isDown = isDown;
  }

  /**
   * Sends a heartbeat when its turn comes.
   *
   * @param leftNanos for how long its node applies its share; 0 or less for none
   * @param call sends it
   */
  <T> CompletionStage<T> heartbeat(
      String key, LongSupplier leftNanos, Supplier<CompletionStage<T>> call) {
    synchronized (this) {
      if (leftNanos.getAsLong() <= 0 && wasLate) {
        wasLate = time.monotonicNanos() - lateNanos < LATE_FOR_NANOS;
        if (wasLate) {
          return notSent(NO_ROOM);
        }
      }
    }
    return submit(new Turn<>(key, leftNanos, call, true));
  }

  /** Sends another call when its turn comes. */
  <T> CompletionStage<T> call(String key, Supplier<CompletionStage<T>> call) {
    return submit(new Turn<>(key, () -> 0, call, false));
  }

  /** Sends all waiting calls now, however many; no later call waits. */
  void close() {
    synchronized (this) {
      closed = true;
    }
    begin();
  }

  private <T> CompletionStage<T> submit(Turn<T> turn) {
    synchronized (this) {
      waiting.add(turn);
    }
    begin();
    boolean waits;
    synchronized (this) {
      waits = waiting.contains(turn);
    }
    if (waits && isDown.getAsBoolean()) {
      expire(turn);
    } else if (waits) {
      timer.runAfter(maxWaitNanos, () -> expire(turn));
    }
    return turn.answer;
  }

  /** Begins the calls whose turn has come. Calls may fail at once, so this is no recursion. */
  private void begin() {
    for (Turn<?> next = next(); next != null; next = next()) {
      next.begin();
    }
  }

  private synchronized @Nullable Turn<?> next() {
    if (busy.size() >= connections && !closed) {
      return null;
    }
    boolean hasRoom = closed || others < Math.max(1, connections - 1);
    Turn<?> first = null;
    long least = Long.MAX_VALUE;
    for (Turn<?> turn : waiting) {
      if (!closed && busy.contains(turn.key)) {
        continue;
      }
      long left = turn.leftNanos.getAsLong();
      if (left > callNanos && left < least) {
        first = turn;
        least = left;
      } else if (least == Long.MAX_VALUE && hasRoom && left <= callNanos) {
        first = first == null || first.isHeartbeat ? turn : first;
      }
    }
    if (first != null) {
      waiting.remove(first);
      take(first, least < Long.MAX_VALUE);
    }
    return first;
  }

  private void take(Turn<?> turn, boolean holdsShare) {
    busy.add(turn.key);
    turn.begunNanos = time.monotonicNanos();
    turn.isOther = !holdsShare;
    others += holdsShare ? 0 : 1;
    if (holdsShare && turn.begunNanos - turn.readyNanos >= LATE_NANOS) {
      wasLate = true;
      lateNanos = turn.begunNanos;
    }
  }

  private void ended(Turn<?> turn, boolean answered) {
    synchronized (this) {
      long now = time.monotonicNanos();
      busy.remove(turn.key);
      others -= turn.isOther ? 1 : 0;
      if (answered) {
        callNanos = Math.min(now - turn.begunNanos, MAX_CALL_NANOS);
      }
      for (Turn<?> next : waiting) {
        if (next.key.equals(turn.key)) {
          next.readyNanos = now; // it has waited for its own limit until now
        }
      }
    }
  }

  private void expire(Turn<?> turn) {
    boolean waited;
    synchronized (this) {
      waited = waiting.remove(turn);
    }
    if (waited) {
      turn.answer.completeExceptionally(failure(NOT_IN_TIME));
    }
  }

  private <T> CompletionStage<T> notSent(String why) {
    return CompletableFuture.failedStage(failure(why));
  }

  private StoreException failure(String why) {
    listener.failed(1, isDown.getAsBoolean() ? Failure.OPEN : Failure.LEASE_DEADLINE, why);
    return StoreException.notSent(why);
  }

  /** A call. Its changing fields are guarded by the queue. */
  private final class Turn<T> {
    final String key;
    final LongSupplier leftNanos;
    final CompletableFuture<T> answer = new CompletableFuture<>();
    final boolean isHeartbeat;
    private final Supplier<CompletionStage<T>> call;

    /** Since when only other limits keep it waiting. */
    long readyNanos = time.monotonicNanos();

    long begunNanos;
    boolean isOther;

    Turn(
        String key,
        LongSupplier leftNanos,
        Supplier<CompletionStage<T>> call,
        boolean isHeartbeat) {
      this.isHeartbeat = isHeartbeat;
      this.key = key;
      this.leftNanos = leftNanos;
      this.call = call;
    }

    void begin() {
      CompletableFuture<T> reply;
      try {
        reply = call.get().toCompletableFuture();
      } catch (RuntimeException bug) { // must not end the other calls
        reply = CompletableFuture.failedFuture(bug);
      }
      boolean later = !reply.isDone();
      var _ =
          reply.whenComplete((value, failure) -> {
            end(value, failure);
            if (later) { // else the caller begins the next one
              LimitQueue.this.begin();
            }
          });
    }

    /** First answers, so that the node's next heartbeat, if it waits, reports what it applies. */
    private void end(@Nullable T value, @Nullable Throwable failure) {
      if (failure == null) {
        answer.complete(value);
      } else {
        answer.completeExceptionally(failure);
      }
      ended(this, failure == null);
    }
  }
}
