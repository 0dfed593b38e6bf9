package io.throttlekit.once;

import io.throttlekit.store.CallId;
import io.throttlekit.store.StoreException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Calls to a store that must take effect exactly once: one at a time for each key.
 *
 * <p>The wait timeout of a caller and the validity of a response are separate. A call that fails or
 * times out fails for its caller, but the store may have acted on it. It therefore keeps its call
 * id and is retried, by a timer or by the next call for the key, until a response arrives, however
 * late. Each response is delivered once: to the waiting caller, or else as a late one. A second
 * response to the same id counts only if it is of another window, because the store has acted again
 * then.
 *
 * <p>Thread-safe and non-blocking. Only unanswered calls are kept, and only while a response is
 * valid.
 *
 * @param <K> key with at most one call at a time
 * @param <T> type of a response
 */
public final class OnceCalls<K, T> {
  /** Attempts of a call at the same time: a store that hangs gets no more. */
  private static final int MAX_IN_FLIGHT = 3;

  /** Retry delays grow to 32 times the first. */
  private static final int MAX_DOUBLINGS = 5;

  private final Settings settings;
  private final Clocks clocks;
  private final ToLongFunction<T> windowOf;
  private final AtomicLong numbers = new AtomicLong();
  private final ConcurrentMap<K, Call> calls = new ConcurrentHashMap<>();
  private final AtomicBoolean armed = new AtomicBoolean();

  /**
   * The settings of retries.
   *
   * @param sender identity in call ids; unique to this object
   * @param retryNanos delay of the first retry in ns, doubled for each further one, from 1
   * @param waitNanos wait timeout of a caller in ns, from 1
   * @param persistent whether a call that was not sent is retried, too
   */
  public record Settings(long sender, long retryNanos, long waitNanos, boolean persistent) {}

  /**
   * Creates an object without calls.
   *
   * @param windowOf window of a response; a constant if there are no windows
   */
  public OnceCalls(Settings settings, Clocks clocks, ToLongFunction<T> windowOf) {
    this.settings = settings;
    this.clocks = clocks;
    this.windowOf = windowOf;
  }

  /**
   * Starts a call. An unanswered call for the same key is continued under its id, and fails for the
   * caller that waited for it.
   *
   * @param countsNanos how long a response is valid; the call is retried for as long
   * @param send sends the call under an id; may throw
   * @param late receives the outcome if the caller no longer waits for it
   * @return fails as {@code send} does, or when the wait times out; with a {@link StoreException}
   *     that is {@linkplain StoreException#isNotSent not sent} only if no attempt was
   */
  public CompletionStage<Answered<T>> call(
      K key, long countsNanos, Function<CallId, CompletionStage<T>> send, LateAnswers<T> late) {
    while (true) {
      Call call =
          calls.computeIfAbsent(
              key, _ -> new Call(key, new CallId(settings.sender(), numbers.incrementAndGet())));
      CompletionStage<Answered<T>> answer = call.begin(countsNanos, send, late);
      if (answer != null) {
        return answer;
      }
      calls.remove(key, call); // ended in the meantime
    }
  }

  /**
   * Starts a call whose late responses count, and none else.
   *
   * @param late receives a response that arrives when the caller no longer waits
   */
  public CompletionStage<Answered<T>> call(
      K key,
      long countsNanos,
      Function<CallId, CompletionStage<T>> send,
      Consumer<Answered<T>> late) {
    LateAnswers<T> ended =
        (answer, _) -> {
          if (answer != null) {
            late.accept(answer);
          }
        };
    return call(key, countsNanos, send, ended);
  }

  /** Returns the number of unanswered calls. */
  public int size() {
    return calls.size();
  }

  /** Schedules one timer for all calls: a timer per call would outlive its response. */
  private void arm() {
    if (!calls.isEmpty() && armed.compareAndSet(false, true)) {
      clocks
          .timer()
          .runAfter(
              settings.retryNanos(),
              () -> {
                armed.set(false);
                try {
                  calls.values().forEach(Call::look);
                } finally { // a failure must not stop the timer
                  arm();
                }
              });
    }
  }

  private enum State {
    OPEN,
    /** No longer retried; a response still counts. */
    ABANDONED,
    ANSWERED
  }

  private final class Call {
    private final K key;
    private final CallId id;
    private State state = State.OPEN;
    private @Nullable Function<CallId, CompletionStage<T>> send;
    private @Nullable LateAnswers<T> late;
    private @Nullable CompletableFuture<Answered<T>> waiting;
    private long waitsUntilNanos;
    private long countsUntilNanos;
    private int inFlight;
    private int attempts;
    private boolean mayHaveActed;

    /** Windows that have answered, at most one per attempt: the store acts once in each window. */
    private final Set<Long> answeredWindows = new HashSet<>(1);

    private long dueNanos;

    Call(K key, CallId id) {
      this.key = key;
      this.id = id;
    }

    /** Returns null if this call has ended. */
    @Nullable CompletionStage<Answered<T>> begin(
        long countsNanos, Function<CallId, CompletionStage<T>> newSend, LateAnswers<T> newLate) {
      CompletableFuture<Answered<T>> answer = new CompletableFuture<>();
      CompletableFuture<Answered<T>> before;
      synchronized (this) {
        if (state != State.OPEN) {
          return null;
        }
        before = waiting;
        waiting = answer;
        send = newSend;
        late = newLate;
        attempts = 0; // retry delays start again: a caller waits
        waitsUntilNanos = now() + settings.waitNanos();
        countsUntilNanos = now() + countsNanos;
      }
      if (before != null) {
        fail(before, new StoreException("superseded by another call for the same key", null));
      }
      attempt();
      return answer;
    }

    private void attempt() {
      Function<CallId, CompletionStage<T>> sender;
      long sentNanos = now();
      synchronized (this) {
        sender = send;
        if (state != State.OPEN || sender == null || inFlight >= MAX_IN_FLIGHT) {
          return;
        }
        inFlight++;
        attempts++;
      }
      CompletionStage<T> stage;
      try {
        stage = sender.apply(id);
      } catch (RuntimeException refused) {
        stage = CompletableFuture.failedFuture(refused);
      }
      stage.whenComplete((value, failure) -> {
        if (value != null) {
          answered(value, sentNanos);
        } else {
          failed(StoreException.causeOf(failure));
        }
      });
      watch();
    }

    private void answered(T value, long sentNanos) {
      CompletableFuture<Answered<T>> answer;
      LateAnswers<T> to;
      synchronized (this) {
        inFlight--;
        long window = windowOf.applyAsLong(value);
        if (answeredWindows.contains(window)) {
          return; // a duplicate
        }
        state = State.ANSWERED;
        answeredWindows.add(window);
        answer = waiting;
        waiting = null;
        to = late;
      }
      calls.remove(key, this);
      Answered<T> answered = new Answered<>(value, sentNanos);
      if ((answer == null || !answer.complete(answered)) && to != null) {
        to.ended(answered, true);
      }
    }

    private void failed(@Nullable Throwable cause) {
      CompletableFuture<Answered<T>> answer;
      LateAnswers<T> to;
      boolean ends;
      synchronized (this) {
        inFlight--;
        boolean ofStore = cause == null || cause instanceof StoreException;
        // Once an attempt may have acted, the id must not be given up before its validity ends.
        mayHaveActed |= ofStore && !(cause instanceof StoreException known && known.isNotSent());
        ends =
            state == State.OPEN
                && inFlight == 0
                && !mayHaveActed
                && !(ofStore && settings.persistent());
        if (ends) {
          state = State.ANSWERED; // no attempt is left to be answered
        }
        answer = waiting;
        waiting = null;
        to = late;
      }
      if (ends) {
        calls.remove(key, this);
        fail(answer, cause);
        if (to != null) {
          to.ended(null, false);
        }
      } else {
        watch();
        fail(answer, new StoreException(messageOf(cause), cause));
      }
    }

    private String messageOf(@Nullable Throwable cause) {
      String message = cause == null ? null : cause.getMessage();
      return message == null ? "the store answered nothing" : message;
    }

    private void fail(@Nullable CompletableFuture<Answered<T>> answer, @Nullable Throwable cause) {
      if (answer != null) {
        answer.completeExceptionally(
            cause == null ? new StoreException(messageOf(null), null) : cause);
      }
    }

    /** Schedules the next check: for a retry, the wait timeout, or the end of validity. */
    private void watch() {
      synchronized (this) {
        long now = now();
        long nanos = settings.retryNanos() << Math.clamp(attempts - 1, 0, MAX_DOUBLINGS);
        nanos = Math.min(nanos, countsUntilNanos - now);
        nanos = waiting == null ? nanos : Math.min(nanos, waitsUntilNanos - now);
        dueNanos = now + nanos;
      }
      arm();
    }

    private void look() {
      CompletableFuture<Answered<T>> gaveUp = null;
      LateAnswers<T> abandons = null;
      boolean acted = false;
      synchronized (this) {
        long now = now();
        if (state != State.OPEN || now - dueNanos < 0) {
          return;
        }
        boolean over = now - countsUntilNanos >= 0;
        if (over || now - waitsUntilNanos >= 0) {
          gaveUp = waiting;
          waiting = null;
        }
        if (over) {
          state = State.ABANDONED;
          abandons = late;
          acted = mayHaveActed || inFlight > 0;
        }
      }
      if (abandons != null) {
        calls.remove(key, this);
        abandons.ended(null, acted);
      } else {
        attempt();
        watch();
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(settings.waitNanos());
      fail(gaveUp, new StoreException("no answer within " + millis + " ms", null));
    }

    private long now() {
      return clocks.time().monotonicNanos();
    }
  }
}
