package io.throttlekit.tier;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

/** Counts calls that are not answered, so that somebody who ends can wait for them. Thread-safe. */
final class Outstanding {
  private final AtomicLong calls = new AtomicLong(1); // one for whoever may still begin some
  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

  void begun() {
    calls.incrementAndGet();
  }

  /** What an answer leads to has begun by now. */
  void answered() {
    if (calls.decrementAndGet() == 0) {
      ended.complete(true);
    }
  }

  /** Nobody begins any more, but for what answers lead to; called once. */
  void close() {
    answered();
  }

  /** Completes when this is closed and all are answered. */
  CompletionStage<?> ended() {
    return ended;
  }
}
