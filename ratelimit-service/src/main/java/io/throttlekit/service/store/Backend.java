package io.throttlekit.service.store;

import io.throttlekit.store.ExternalStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A backend that decides for this process: an {@link ExternalStore}, or one inside this process.
 *
 * @param api the backend's operations
 */
record Backend<T extends AutoCloseable>(T api) {
  private static final CompletionStage<?> DONE = CompletableFuture.completedStage(true);

  /** Completes when the connections were established once. */
  CompletionStage<?> ready() {
    return api instanceof ExternalStore external ? external.ready() : DONE;
  }

  /** Completes after {@code api} was closed and all earlier calls are answered. */
  CompletionStage<?> ended() {
    return api instanceof ExternalStore external ? external.ended() : DONE;
  }
}
