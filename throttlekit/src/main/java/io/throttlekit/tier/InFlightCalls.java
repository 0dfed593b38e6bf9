package io.throttlekit.tier;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

/** Counts calls in flight, so that a shutdown can wait for them. Thread-safe. */
final class InFlightCalls {
  private final AtomicLong calls = new AtomicLong(1); // 1 until close()
  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

  void begun() {
    calls.incrementAndGet();
  }

  /** Counts a call as answered. Calls that follow from its answer have begun before. */
  void answered() {
    if (calls.decrementAndGet() == 0) {
      ended.complete(true);
    }
  }

  /** Stops new calls, except those that follow from answers. Called once. */
  void close() {
    answered();
  }

  /** Completes when this is closed and all calls are answered. */
  CompletionStage<?> ended() {
    return ended;
  }
}
