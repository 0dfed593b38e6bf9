package io.throttlekit.service.store;

import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CounterStore;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Waits for the first answers of backends, all of them until one deadline.
 *
 * @param endNanos the deadline, in monotonic ns
 */
record ReadinessProbe(TimeSource time, long endNanos) {
  /** Pause after a failed call, which may have failed at once. */
  private static final long PAUSE_MILLIS = 20;

  /** Fast answers that are awaited: the first calls of a new JVM are slow. */
  private static final int FAST_ANSWERS = 10;

  /** The smallest window, for peeks at a counter that does not exist. */
  private static final FixedWindow NOTHING = new FixedWindow(1, 1);

  private static final CounterKey PROBED = CounterKey.of("start");

  /** Returns a copy whose deadline is at most {@code nanos} from now. */
  ReadinessProbe within(long nanos) {
    long now = time.monotonicNanos();
    return new ReadinessProbe(time, now + Math.min(nanos, endNanos - now));
  }

  /**
   * Waits until a store has answered, then until it answers fast. Writes nothing.
   *
   * @param deadlineNanos that of a call
   * @return whether it has answered
   */
  boolean awaitCounters(Backend<? extends CounterStore> store, long deadlineNanos)
      throws InterruptedException {
    Supplier<CompletionStage<?>> peek =
        () -> store.ready().thenCompose(_ -> store.api().peek(PROBED, NOTHING));
    boolean answered = await(store, peek, 1, Long.MAX_VALUE);
    if (answered) {
      // Half of the deadline leaves room for the variance of real requests.
      var _ = await(store, peek, FAST_ANSWERS, deadlineNanos / 2);
    }
    return answered;
  }

  /**
   * Calls a backend, one call after the other, until it has answered often enough.
   *
   * @param call connects where needed, and calls the backend
   * @param answers number of fast answers, from 1
   * @param fastNanos time within which an answer counts as fast
   * @return whether it has answered often enough before the deadline
   */
  boolean await(Backend<?> backend, Supplier<CompletionStage<?>> call, int answers, long fastNanos)
      throws InterruptedException {
    int fast = 0;
    while (fast < answers) {
      long sentNanos = time.monotonicNanos();
      long left = endNanos - sentNanos;
      if (left <= 0) {
        return false;
      }
      try {
        call.get().toCompletableFuture().get(left, TimeUnit.NANOSECONDS);
        fast += time.monotonicNanos() - sentNanos < fastNanos ? 1 : 0;
      } catch (TimeoutException e) {
        return false;
      } catch (ExecutionException e) {
        fast = 0; // late, or failed at once
        if (endsWithin(backend, PAUSE_MILLIS)) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean endsWithin(Backend<?> backend, long millis) throws InterruptedException {
    try {
      backend.ended().toCompletableFuture().get(millis, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException impossible) { // ended() never completes exceptionally
      throw new IllegalStateException(impossible);
    }
  }
}
