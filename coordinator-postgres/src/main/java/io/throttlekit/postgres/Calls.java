package io.throttlekit.postgres;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.postgres.Session.SqlFunction;
import io.throttlekit.store.CallId;
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
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs blocking calls on virtual threads, up to a maximum number at once; others wait for their
 * {@linkplain Turns turn}.
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
  private final Turns<Call<?>> turns;

  /** The calls on threads, in the order of their begin. */
  private final Queue<Call<?>> running = new ConcurrentLinkedQueue<>();

  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

  /** Whether new calls are rejected; guarded by the turns, so that none is added afterwards. */
  private boolean closed;

  /** The deadline of a call's stage. */
  enum Deadline {
    /** The deadline of a request. */
    REQUEST,

    /** The deadline of a lease. */
    LEASE,

    /**
     * No deadline: until the answer arrives or the connection is lost, for calls that take effect
     * once however often they are repeated. After the deadline of a lease such a call counts as
     * late, and is not started any more.
     */
    NONE;

    /** Returns the deadline of a lease or a return. */
    static Deadline ofCall(@Nullable CallId id) {
      return id == null ? LEASE : NONE;
    }
  }

  /**
   * The work of the calls of one transaction.
   *
   * @param <R> the request of a call
   */
  @FunctionalInterface
  interface Work<R> {
    /**
     * Returns the answer to each request, in their order; one that throws {@link
     * AnsweredCalls.Overtaken} fails its call only. Blocks.
     *
     * @param isAwaited whether a caller still waits
     */
    List<Supplier<?>> answer(List<R> requests, BooleanSupplier isAwaited) throws SQLException;
  }

  Calls(PostgresSettings settings, TimeSource time, Scheduler timer, StoreListener listener) {
    this.settings = settings;
    this.time = time;
    this.listener = listener;
    this.breaker = new CircuitBreaker(time, settings.breaker());
    this.deadlines =
        new Deadlines<>(
            time, (nanos, task) -> timer.runAfter(nanos, () -> sweep(task)), expired::add, _ -> {});
    this.turns = new Turns<>(settings.connections());
  }

  /** Completes after {@link #close} when all earlier calls have ended. */
  CompletionStage<Boolean> ended() {
    return ended;
  }

  /**
   * Makes a call that has a transaction of its own.
   *
   * @param deadline at which its stage fails
   * @param place where it waits for its turn
   * @param work blocks; may check whether its caller still waits
   */
  <T> CompletionStage<T> submit(
      Deadline deadline, Turns.Place place, SqlFunction<BooleanSupplier, T> work) {
    return submit(
        deadline,
        Long.MAX_VALUE,
        place,
        true,
        (_, isAwaited) -> {
          T answer = work.apply(isAwaited);
          return List.of(() -> answer);
        });
  }

  /**
   * Makes a call, possibly in one transaction with others of its counter.
   *
   * @param deadline at which its stage fails
   * @param waitNanos the caller's remaining wait, in ns, if that is less
   * @param place where it waits for its turn
   * @param work the same for all calls of that counter
   * @param <T> of the answers of {@code work} to such a request
   */
  <R, T> CompletionStage<T> submit(
      Deadline deadline, long waitNanos, Turns.Place place, R request, Work<R> work) {
    Call<T> call = new Call<>(deadline, place, request, work);
    if (!breaker.allows()) {
      listener.failed(1, Failure.OPEN, BREAKER_OPEN);
      return CompletableFuture.failedFuture(StoreException.notSent(BREAKER_OPEN));
    }
    synchronized (turns) {
      if (closed) {
        return CompletableFuture.failedFuture(StoreException.notSent("the store is closed"));
      }
      turns.add(place, call);
    }
    startNext();
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
    synchronized (turns) {
      closed = true;
    }
    checkEnd();
  }

  /** Runs the calls whose turn has come, if any, on a thread of their own. */
  private void startNext() {
    List<Call<?>> next = turns.begin();
    if (!next.isEmpty()) {
      Thread.ofVirtual().name("postgres").start(() -> run(next));
    }
  }

  /** Runs the calls of a transaction, and then others on the same thread while there are any. */
  private void run(List<Call<?>> first) {
    List<Call<?>> calls = first;
    while (!calls.isEmpty()) {
      try {
        runTogether(calls.stream().filter(Call::begin).toList());
      } finally {
        turns.end(calls.getFirst().place);
      }
      calls = turns.begin();
      startNext(); // the end of one may have let two begin
    }
    checkEnd();
  }

  @SuppressWarnings("unchecked") // calls of one transaction have the same work
  private void runTogether(List<Call<?>> calls) {
    if (calls.isEmpty()) {
      return;
    }
    try {
      List<Object> requests = calls.stream().map(call -> call.request).toList();
      List<Supplier<?>> answers =
          ((Work<Object>) calls.getFirst().work)
              .answer(requests, () -> calls.stream().anyMatch(Call::isAwaited));
      answered(calls); // first, so that callers find the store up
      for (int i = 0; i < answers.size(); i++) {
        calls.get(i).complete(answers.get(i));
      }
    } catch (SQLException | StoreException e) {
      StoreException described = Failures.describe(e);
      String why = String.valueOf(described.getMessage());
      calls.forEach(call -> call.notifyOf(Failures.kind(e), why));
      if (Failures.isLockTimeout(e)) { // the server answers; one row is locked
        answered(calls);
      } else if (breaker.failed()) { // once for a transaction, however many calls it had
        listener.down();
      }
      calls.forEach(call -> call.fail(described));
    } catch (TermsMismatchException e) { // this is an answer, too
      answered(calls);
      calls.forEach(call -> call.fail(e));
    } catch (AnsweredCalls.Overtaken _) {
      answered(calls);
      calls.forEach(call -> call.fail(StoreException.overtaken()));
    } catch (RuntimeException | Error e) { // a bug: must not end the thread's other calls
      calls.forEach(call -> {
        listener.failed(1, Failure.ERROR, e.toString());
        call.fail(StoreException.of(e));
      });
    } finally {
      calls.forEach(Call::end);
    }
  }

  /** Completes the end after the last call; calls that were added before the close are counted. */
  private void checkEnd() {
    synchronized (turns) {
      if (!closed || !turns.isEmpty()) {
        return;
      }
    }
    ended.complete(true);
  }

  private void answered(List<Call<?>> calls) {
    listener.roundTrip(calls.size(), time.monotonicNanos() - calls.getFirst().sentNanos);
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
    if (turns.remove(call.place, call)) { // near its queue's head, unless it is running
      call.notSent();
      checkEnd();
    }
  }

  /** Reports the call that has been without an answer for longest, which the breaker times. */
  private void reportOldest() {
    Call<?> oldest = running.peek();
    if (oldest != null && breaker.unanswered(oldest.begunNanos)) {
      listener.down();
    }
  }

  private final class Call<T> extends DeadlineWheel.Entry {
    final CompletableFuture<T> answer = new CompletableFuture<>();

    /** The answer without a deadline, for calls that have none. */
    final CompletableFuture<T> reply;

    final Turns.Place place;
    private final Deadline deadline;
    private final Object request;
    private final Work<?> work;
    private final long sentNanos = time.monotonicNanos();

    /** When its turn came; written before it is running. */
    private long begunNanos;

    Call(Deadline deadline, Turns.Place place, Object request, Work<?> work) {
      this.deadline = deadline;
      this.place = place;
      this.request = request;
      this.work = work;
      this.reply = deadline == Deadline.NONE ? new CompletableFuture<>() : answer;
    }

    /** Begins, unless it timed out before. */
    boolean begin() {
      if (!isAwaited()) {
        notSent();
        return false;
      }
      begunNanos = time.monotonicNanos();
      running.add(this);
      return true;
    }

    boolean isAwaited() {
      return !answer.isDone();
    }

    /** Completes the call with an answer, which may throw {@link AnsweredCalls.Overtaken}. */
    @SuppressWarnings("unchecked") // of the work that this call was submitted with
    void complete(Supplier<?> answered) {
      T result;
      try {
        result = (T) answered.get();
      } catch (AnsweredCalls.Overtaken _) {
        fail(StoreException.overtaken());
        return;
      }
      answer.complete(result);
      reply.complete(result);
    }

    /** Notifies the listener of a failure, unless the call has timed out before. */
    void notifyOf(Failure kind, String why) {
      if (isAwaited()) {
        listener.failed(1, kind, why);
      }
    }

    void end() {
      running.remove(this);
      synchronized (deadlines) {
        deadlines.remove(this);
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
