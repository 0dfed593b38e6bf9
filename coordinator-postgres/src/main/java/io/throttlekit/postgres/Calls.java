package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.store.CircuitBreaker;
import io.throttlekit.store.DeadlineWheel;
import io.throttlekit.store.Deadlines;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.StoreListener.Failure;
import io.throttlekit.tier.Timer;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs blocking calls on virtual threads, up to a maximum number at once; others wait for their
 * turn.
 *
 * <p>A call's stage fails at its deadline, unless its answer counts however late it arrives. A call
 * that waits for its turn until its deadline is not made. While the circuit breaker is open, calls
 * fail at once, except for probes. Thread-safe and non-blocking.
 */
final class Calls {
  private static final String LATE =
      "PostgreSQL did not answer in time; the request may have been counted";
  private static final String BREAKER_OPEN = "circuit breaker open: PostgreSQL does not answer";

  private final int maxRunning;
  private final TimeSource time;
  private final StoreListener listener;
  private final CircuitBreaker breaker;

  /** The deadlines of pending calls; guarded by itself, with their timer. */
  private final Deadlines<Call<?>> deadlines;

  /** Calls whose deadline has passed in the current sweep; guarded by the deadlines. */
  private final List<Call<?>> expired = new ArrayList<>();

  private final PostgresSettings settings;
  private final Queue<Call<?>> waiting = new ArrayDeque<>();
  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();
  private final List<Call<?>> running;
  private boolean closed;

  /** A blocking call, which may check whether its caller still waits. */
  @FunctionalInterface
  interface Blocking<T> {
    T run(BooleanSupplier isAwaited) throws SQLException;
  }

  Calls(PostgresSettings settings, TimeSource time, Timer timer, StoreListener listener) {
    this.settings = settings;
    this.maxRunning = settings.connections();
    this.time = time;
    this.listener = listener;
    this.breaker = new CircuitBreaker(time, settings.breaker());
    this.deadlines =
        new Deadlines<>(
            time, (nanos, task) -> timer.runAfter(nanos, () -> sweep(task)), expired::add, _ -> {});
    this.running = new ArrayList<>(maxRunning);
  }

  boolean isUp() {
    return !breaker.isOpen();
  }

  /** Completes after {@link #close} when all earlier calls have ended. */
  CompletionStage<Boolean> ended() {
    return ended;
  }

  /**
   * Makes a call.
   *
   * @param deadline at which its stage fails
   * @param waitNanos the caller's remaining wait, in ns, if that is less
   */
  <T> CompletionStage<T> submit(Deadline deadline, long waitNanos, Blocking<T> work) {
    Call<T> call = new Call<>(deadline, work);
    if (!breaker.allows()) {
      listener.failed(1, Failure.OPEN, BREAKER_OPEN);
      return CompletableFuture.failedFuture(StoreException.notSent(BREAKER_OPEN));
    }
    synchronized (this) {
      if (closed) {
        return CompletableFuture.failedFuture(StoreException.notSent("the store is closed"));
      }
      if (running.size() == maxRunning) {
        waiting.add(call);
      } else {
        begin(call);
        var _ = Thread.ofVirtual().name("postgres").start(() -> runFrom(call));
      }
    }
    long maxNanos =
        TimeUnit.MILLISECONDS.toNanos(
            deadline == Deadline.REQUEST
                ? settings.deadlineMillis()
                : settings.leaseDeadlineMillis());
    synchronized (deadlines) {
      if (!call.answer.isDone()) {
        deadlines.add(call, call.sentNanos + Math.clamp(waitNanos, 0, maxNanos)); // may have passed
      }
    }
    return call.reply;
  }

  void close() {
    boolean idle;
    synchronized (this) {
      closed = true;
      idle = running.isEmpty();
    }
    if (idle) {
      ended.complete(true);
    }
  }

  private void runFrom(Call<?> first) {
    for (Call<?> call = first; call != null; call = after(call)) {
      call.run();
    }
  }

  private void begin(Call<?> call) {
    call.begunNanos = time.monotonicNanos();
    running.add(call);
  }

  private @Nullable Call<?> after(Call<?> done) {
    boolean last;
    synchronized (this) {
      running.remove(done);
      Call<?> next = waiting.poll();
      if (next != null) {
        begin(next);
        return next;
      }
      last = closed && running.isEmpty();
    }
    if (last) {
      ended.complete(true);
    }
    return null;
  }

  private void answered(long nanos) {
    listener.roundTrip(1, nanos);
    if (breaker.succeeded()) {
      listener.up();
    }
  }

  /** Runs a task of the timer of deadlines. */
  private void sweep(Runnable task) {
    List<Call<?>> late;
    synchronized (deadlines) {
      task.run();
      late = List.copyOf(expired);
      expired.clear();
    }
    late.forEach(Call::expire); // without the lock: callers continue on this thread
    if (!late.isEmpty()) {
      dropExpired();
    }
    reportOldest();
  }

  /** Drops calls that timed out before their turn, which must not hold memory until it comes. */
  private void dropExpired() {
    List<Call<?>> dropped = new ArrayList<>();
    synchronized (this) {
      waiting.removeIf(call -> call.answer.isDone() && dropped.add(call));
    }
    dropped.forEach(Call::notSent); // without the lock, as above
  }

  /** Reports the call that has been without an answer for longest, which the breaker times. */
  private void reportOldest() {
    long oldest;
    synchronized (this) {
      if (running.isEmpty()) {
        return;
      }
      oldest = running.getFirst().begunNanos; // in order of their begin
    }
    if (breaker.unanswered(oldest)) {
      listener.down();
    }
  }

  private final class Call<T> extends DeadlineWheel.Entry {
    final CompletableFuture<T> answer = new CompletableFuture<>();

    /** The answer without a deadline, for calls that have none. */
    final CompletableFuture<T> reply;

    private final Deadline deadline;
    private final Blocking<T> work;
    private final long sentNanos = time.monotonicNanos();

    /** When its turn came; guarded by the enclosing object. */
    private long begunNanos;

    Call(Deadline deadline, Blocking<T> work) {
      this.deadline = deadline;
      this.work = work;
      this.reply = deadline == Deadline.NONE ? new CompletableFuture<>() : answer;
    }

    void run() {
      if (answer.isDone()) {
        notSent();
        return;
      }
      try {
        T result = work.run(() -> !answer.isDone());
        // first, so that the caller finds the store up
        answered(time.monotonicNanos() - sentNanos);
        answer.complete(result);
        reply.complete(result);
      } catch (SQLException | StoreException e) {
        StoreException described = Failures.describe(e);
        if (!answer.isDone()) {
          listener.failed(1, Failures.kind(e), String.valueOf(described.getMessage()));
        }
        if (breaker.failed()) {
          listener.down();
        }
        fail(described);
      } catch (TermsMismatchException e) { // a mismatch is an answer, too
        answered(time.monotonicNanos() - sentNanos);
        fail(e);
      } catch (AnsweredCalls.Overtaken _) { // as is this
        answered(time.monotonicNanos() - sentNanos);
        fail(StoreException.overtaken());
      } catch (RuntimeException | Error e) { // a bug: must not end the thread's other calls
        listener.failed(1, Failure.ERROR, e.toString());
        fail(StoreException.of(e));
      } finally {
        synchronized (deadlines) {
          deadlines.remove(this);
        }
      }
    }

    /** Fails the reply of a call that timed out before its turn. */
    private void notSent() {
      reply.completeExceptionally(StoreException.notSent("not sent in time"));
    }

    private void fail(RuntimeException failure) {
      answer.completeExceptionally(failure);
      reply.completeExceptionally(failure);
    }

    /** Ends the call at its deadline; has no effect if it was answered. */
    private void expire() {
      if (!answer.isDone()) {
        Failure kind = deadline == Deadline.REQUEST ? Failure.DEADLINE : Failure.LEASE_DEADLINE;
        listener.failed(1, kind, LATE);
        answer.completeExceptionally(StoreException.late(LATE));
      }
    }
  }
}
