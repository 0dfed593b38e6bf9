package io.throttlekit.service.store;

import io.throttlekit.TimeSource;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Waits for first answers of backends, together no longer than until a time.
 *
 * @param endNanos monotonic
 */
record Greeting(TimeSource time, long endNanos) {
  private static final long PAUSE_MILLIS = 20;

  /** The same for no longer than {@code nanos} from now. */
  Greeting within(long nanos) {
    long now = time.monotonicNanos();
    return new Greeting(time, now + Math.min(nanos, endNanos - now));
  }

  /**
   * Calls a backend until it has answered often enough, one call after the other.
   *
   * @param call connects where that is needed, and asks for something
   * @param answers how many of them, from 1
   * @param fastNanos only what is answered within this counts
   * @return whether it has
   */
  boolean await(Backend<?> backend, Supplier<CompletionStage<?>> call, int answers, long fastNanos)
      throws InterruptedException {
    int fast = 0;
    while (fast < answers) {
      long asked = time.monotonicNanos();
      long left = endNanos - asked;
      if (left <= 0) {
        return false;
      }
      try {
        call.get().toCompletableFuture().get(left, TimeUnit.NANOSECONDS);
        fast += time.monotonicNanos() - asked < fastNanos ? 1 : 0;
      } catch (TimeoutException e) {
        return false;
      } catch (ExecutionException e) {
        fast = 0; // beyond the deadline, or not there, which is said at once
        if (endsWithin(backend, PAUSE_MILLIS)) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean endsWithin(Backend<?> backend, long millis) throws InterruptedException {
    try {
      backend.ended().get().toCompletableFuture().get(millis, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException impossible) { // it ends in one way only
      throw new IllegalStateException(impossible);
    }
  }
}
