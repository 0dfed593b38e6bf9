package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import io.throttlekit.Timer;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.postgres.Session.SqlFunction;
import io.throttlekit.store.CircuitBreaker;
import io.throttlekit.store.DeadlineWheel;
import io.throttlekit.store.Deadlines;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.StoreListener.Failure;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

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

  private final TimeSource time;
  private final StoreListener listener;
  private final CircuitBreaker breaker;

  /** The deadlines of pending calls; guarded by itself, with their timer. */
  private final Deadlines<Call<?>> deadlines;

  /** Calls whose deadline has passed in the current sweep; guarded by the deadlines. */
  private final List<Call<?>> expired = new ArrayList<>();

  private final PostgresSettings settings;
  private final ThreadPoolExecutor threads;

  /** The calls on threads, in the order of their begin. */
  private final Queue<Call<?>> running = new ConcurrentLinkedQueue<>();

  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

  Calls(PostgresSettings settings, TimeSource time, Timer timer, StoreListener listener) {
    this.settings = settings;
    this.time = time;
    this.listener = listener;
    this.breaker = new CircuitBreaker(time, settings.breaker());
    this.deadlines =
        new Deadlines<>(
            time, (nanos, task) -> timer.runAfter(nanos, () -> sweep(task)), expired::add, _ -> {});
    this.threads =
        new ThreadPoolExecutor(
            settings.connections(),
            settings.connections(),
            0, // idle threads stay, which costs nothing with virtual ones
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofVirtual().name("postgres").factory());
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
   * @param work blocks; may check whether its caller still waits
   */
  <T> CompletionStage<T> submit(
      Deadline deadline, long waitNanos, SqlFunction<BooleanSupplier, T> work) {
    Call<T> call = new Call<>(deadline, work);
    if (!breaker.allows()) {
      listener.failed(1, Failure.OPEN, BREAKER_OPEN);
      return CompletableFuture.failedFuture(StoreException.notSent(BREAKER_OPEN));
    }
    try {
      threads.execute(call);
    } catch (RejectedExecutionException _) {
      return CompletableFuture.failedFuture(StoreException.notSent("the store is closed"));
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

  /** Returns whether calls fail at once, except for probes. */
  boolean isDown() {
    return breaker.isOpen();
  }

  /** Rejects new calls. */
  void close() {
    threads.shutdown();
    var _ =
        Thread.startVirtualThread(() -> {
          threads.close(); // waits for earlier calls
          ended.complete(true);
        });
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
    late.forEach(this::drop);
    reportOldest();
  }

  /**
   * Drops a call that timed out, if its turn has not come: it must not hold memory until then.
   * Either this or a thread takes it from the queue, so no call is both made and failed as not
   * sent.
   */
  private void drop(Call<?> call) {
    if (threads.remove(call)) { // near the queue's head, unless it is running
      call.notSent();
    }
  }

  /** Reports the call that has been without an answer for longest, which the breaker times. */
  private void reportOldest() {
    Call<?> oldest = running.peek();
    if (oldest != null && breaker.unanswered(oldest.begunNanos)) {
      listener.down();
    }
  }

  private final class Call<T> extends DeadlineWheel.Entry implements Runnable {
    final CompletableFuture<T> answer = new CompletableFuture<>();

    /** The answer without a deadline, for calls that have none. */
    final CompletableFuture<T> reply;

    private final Deadline deadline;
    private final SqlFunction<BooleanSupplier, T> work;
    private final long sentNanos = time.monotonicNanos();

    /** When its turn came; written before it is running. */
    private long begunNanos;

    Call(Deadline deadline, SqlFunction<BooleanSupplier, T> work) {
      this.deadline = deadline;
      this.work = work;
      this.reply = deadline == Deadline.NONE ? new CompletableFuture<>() : answer;
    }

    @Override
    public void run() {
      if (answer.isDone()) {
        notSent();
        return;
      }
      begunNanos = time.monotonicNanos();
      running.add(this);
      try {
        T result = work.apply(() -> !answer.isDone());
        // first, so that the caller finds the store up
        answered(time.monotonicNanos() - sentNanos);
        answer.complete(result);
        reply.complete(result);
      } catch (SQLException | StoreException e) {
        StoreException described = Failures.describe(e);
        if (!answer.isDone()) {
          listener.failed(1, Failures.kind(e), String.valueOf(described.getMessage()));
        }
        if (Failures.isLockTimeout(e)) { // the server answers; one row is locked
          answered(time.monotonicNanos() - sentNanos);
        } else if (breaker.failed()) {
          listener.down();
        }
        fail(described);
      } catch (TermsMismatchException | AnsweredCalls.Overtaken e) { // these are answers, too
        answered(time.monotonicNanos() - sentNanos);
        fail(e instanceof TermsMismatchException ? e : StoreException.overtaken());
      } catch (RuntimeException | Error e) { // a bug: must not end the thread's other calls
        listener.failed(1, Failure.ERROR, e.toString());
        fail(StoreException.of(e));
      } finally {
        running.remove(this);
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
