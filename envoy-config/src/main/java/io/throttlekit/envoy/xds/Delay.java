package io.throttlekit.envoy.xds;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A timer. Thread-safe. */
@FunctionalInterface
public interface Delay {

  /** Runs a task after some nanoseconds, on any thread; returns at once. */
  void run(Runnable task, long nanos);

  /** Returns the JDK's timer, which runs tasks on its single thread. */
  static Delay ofJdk() {
    return (task, nanos) ->
        CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run).execute(task);
  }
}
