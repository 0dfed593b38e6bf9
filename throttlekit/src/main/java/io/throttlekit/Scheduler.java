package io.throttlekit;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Schedules tasks. Thread-safe. */
@FunctionalInterface
public interface Scheduler {

  /**
   * Runs {@code task} once, on a thread that must not be blocked.
   *
   * @param nanos from now, above 0
   */
  void runAfter(long nanos, Runnable task);

  /**
   * Returns a scheduler that follows the system's clock, and runs tasks on the JDK's common pool.
   */
  static Scheduler system() {
    return (nanos, task) ->
        CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS).execute(task);
  }
}
