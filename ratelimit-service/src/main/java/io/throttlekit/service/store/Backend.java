package io.throttlekit.service.store;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * A backend that decides for this process, with the connections to it.
 *
 * @param api the backend's operations
 * @param ready completes when the connections were established once
 * @param ended completes after {@code api} was closed and all earlier calls are answered
 */
record Backend<T extends AutoCloseable>(
    T api, Supplier<CompletionStage<?>> ready, Supplier<CompletionStage<?>> ended) {

  /** Returns a backend inside this process. */
  static <T extends AutoCloseable> Backend<T> here(T api) {
    return new Backend<>(api, Backend::done, Backend::done);
  }

  private static CompletionStage<?> done() {
    return CompletableFuture.completedFuture(true);
  }
}
