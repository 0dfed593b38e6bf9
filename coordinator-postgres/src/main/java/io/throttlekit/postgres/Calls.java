package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.store.CircuitBreaker;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.StoreListener.Failure;
import io.throttlekit.tier.Timer;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs what blocks on virtual threads, so many at once and no more; the others wait for their turn.
 *
 * <p>Each call has a deadline, after which its stage fails; one whose turn comes later is not made.
 * While calls fail, they fail at once, but for some that probe. Thread-safe; no method blocks.
 */
final class Calls {
  private final int atOnce;
  private final TimeSource time;
  private final StoreListener listener;
  private final CircuitBreaker breaker;
  private final Deadlines deadlines;
  private final Deadlines leaseDeadlines;
  private final PostgresSettings settings;
  private final Queue<Call<?>> waiting = new ArrayDeque<>();
  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();
  private int running;
  private boolean closed;

  /** Something that blocks, and may ask whether anybody still waits for it. */
  @FunctionalInterface
  interface Blocking<T> {
    T run(BooleanSupplier isWanted) throws SQLException;
  }

  Calls(PostgresSettings settings, TimeSource time, Timer timer, StoreListener listener) {
    this.settings = settings;
    this.atOnce = settings.connections();
    this.time = time;
    this.listener = listener;
    this.breaker = new CircuitBreaker(time, settings.failuresToOpen(), settings.probeEveryMillis());
    this.deadlines = new Deadlines(time, timer, settings.deadlineMillis());
    this.leaseDeadlines = new Deadlines(time, timer, settings.leaseDeadlineMillis());
  }

  boolean isUp() {
    return !breaker.isOpen();
  }

  /** Completes after {@link #close} when what was asked before has ended. */
  CompletionStage<Boolean> ended() {
    return ended;
  }

  /**
   * Makes a call.
   *
   * @param isLease which of the two deadlines it has
   */
  <T> CompletionStage<T> submit(boolean isLease, Blocking<T> work) {
    Call<T> call = new Call<>(isLease, work);
    if (!breaker.allows()) {
      String words = "PostgreSQL does not answer, so it is not asked";
      listener.failed(1, Failure.OPEN, words);
      return CompletableFuture.failedFuture(new StoreException(words, null));
    }
    synchronized (this) {
      if (closed) {
        return CompletableFuture.failedFuture(new StoreException("the store is closed", null));
      }
      if (running == atOnce) {
        waiting.add(call);
      } else {
        running++;
        var _ = Thread.ofVirtual().name("postgres").start(() -> runFrom(call));
      }
    }
    (isLease ? leaseDeadlines : deadlines).add(call);
    return call.answer;
  }

  void close() {
    boolean idle;
    synchronized (this) {
      closed = true;
      idle = running == 0;
    }
    if (idle) {
      ended.complete(true);
    }
  }

  private void runFrom(Call<?> first) {
    for (Call<?> call = first; call != null; call = next()) {
      call.run();
    }
  }

  private @Nullable Call<?> next() {
    boolean last;
    synchronized (this) {
      Call<?> next = waiting.poll();
      if (next != null) {
        return next;
      }
      running--;
      last = closed && running == 0;
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

  private void failed(Failure why, String inWords) {
    listener.failed(1, why, inWords);
    if (breaker.failed()) {
      listener.down();
    }
  }

  private final class Call<T> implements Deadlines.Ends {
    final CompletableFuture<T> answer = new CompletableFuture<>();
    private final boolean isLease;
    private final Blocking<T> work;
    private final long askedNanos = time.monotonicNanos();

    Call(boolean isLease, Blocking<T> work) {
      this.isLease = isLease;
      this.work = work;
    }

    void run() {
      if (answer.isDone()) {
        return;
      }
      try {
        T result = work.run(() -> !answer.isDone());
        if (!answer.isDone()) {
          answered(time.monotonicNanos() - askedNanos); // first, so that who waits finds it up
        }
        answer.complete(result);
      } catch (SQLException | StoreException e) {
        StoreException inWords = Failures.inWords(e);
        if (!answer.isDone()) {
          failed(Failures.kind(e), String.valueOf(inWords.getMessage()));
        }
        answer.completeExceptionally(inWords);
      } catch (TermsMismatchException e) { // an answer, too
        answered(time.monotonicNanos() - askedNanos);
        answer.completeExceptionally(e);
      } catch (RuntimeException | Error e) { // a bug; the next call goes on all the same
        listener.failed(1, Failure.ERROR, e.toString());
        answer.completeExceptionally(StoreException.of(e));
      }
    }

    @Override
    public boolean isAnswered() {
      return answer.isDone();
    }

    @Override
    public void late() {
      long millis = isLease ? settings.leaseDeadlineMillis() : settings.deadlineMillis();
      String words =
          "PostgreSQL did not answer within " + millis + " ms; what was asked may be counted";
      if (!answer.isDone()) {
        failed(isLease ? Failure.LEASE_DEADLINE : Failure.DEADLINE, words);
        answer.completeExceptionally(new StoreException(words, null));
      }
    }
  }
}
