package io.throttlekit.store;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The last call of each sender with its answer, so that a repeated call takes effect once. Grows
 * with the number of senders. Not thread-safe.
 */
public final class CallRecords {
  private final Map<Long, Done> bySender = new HashMap<>();

  private record Done(long number, long window, long answer) {
    @Override
    public String toString() {
      return number + ": " + answer + " of " + window;
    }
  }

  /**
   * Runs a call, or returns its earlier answer.
   *
   * @param window of the answer; in another window the same call runs again
   * @throws StoreException if a later call of the sender was answered
   */
  public long once(@Nullable CallId id, long window, LongSupplier act) {
    if (id == null) {
      return act.getAsLong();
    }
    Done done = bySender.get(id.sender());
    if (done != null && done.number() > id.number()) {
      throw StoreException.overtaken();
    }
    if (done != null && done.number() == id.number() && done.window() == window) {
      return done.answer();
    }
    long answer = act.getAsLong();
    bySender.put(id.sender(), new Done(id.number(), window, answer));
    return answer;
  }

  /** Returns the answer of {@code calls}, or fails if a later call of a sender was answered. */
  public static <T> CompletionStage<T> stage(Supplier<T> calls) {
    try {
      return CompletableFuture.completedFuture(calls.get());
    } catch (StoreException overtaken) {
      return CompletableFuture.failedFuture(overtaken);
    }
  }

  @Override
  public String toString() {
    return bySender.toString();
  }
}
