package io.throttlekit.service.store;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Something outside this process that decides, and the connections to it.
 *
 * @param api what it does
 * @param ready completes when its connections have been made once
 * @param ended completes after {@code api} was closed and what was asked before is answered
 */
record Backend<T extends AutoCloseable>(
    T api, Supplier<CompletionStage<?>> ready, Supplier<CompletionStage<?>> ended) {

  /** One inside this process. */
  static <T extends AutoCloseable> Backend<T> here(T api) {
    return new Backend<>(api, Backend::done, Backend::done);
  }

  private static CompletionStage<?> done() {
    return CompletableFuture.completedFuture(true);
  }
}
