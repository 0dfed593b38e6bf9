package io.throttlekit.federation;

import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Calls that happen at once and are answered when the test says so, or not at all. For one thread.
 */
final class HeldCalls {
  private final String name;
  private final Deque<Runnable> replies = new ArrayDeque<>();
  private boolean holding;
  private boolean failing;

  /** Whether what fails happened all the same. */
  private boolean ambiguous;

  HeldCalls(String name) {
    this.name = name;
  }

  /** Keeps answers from now on. */
  void hold() {
    holding = true;
  }

  /** Delivers the oldest answer that is kept. */
  void answerOne() {
    replies.remove().run();
  }

  /** Delivers what is kept, and keeps nothing any more. */
  void answerAll() {
    holding = false;
    while (!replies.isEmpty()) {
      answerOne();
    }
  }

  /** Fails every call from now on, which does not happen; or does no longer. */
  void fail(boolean fails) {
    failing = fails;
  }

  /** Fails every call from now on, which happens all the same. */
  void failAfterwards() {
    ambiguous = true;
  }

  <T> CompletionStage<T> call(Supplier<CompletionStage<T>> call) {
    if (failing) {
      return down();
    }
    CompletionStage<T> answer = call.get();
    if (ambiguous) {
      return down();
    }
    if (!holding) {
      return answer;
    }
    CompletableFuture<T> stage = new CompletableFuture<>();
    replies.add(() ->
        answer.whenComplete((value, failure) -> {
          if (failure == null) {
            stage.complete(value);
          } else {
            stage.completeExceptionally(failure);
          }
        }));
    return stage;
  }

  private <T> CompletionStage<T> down() {
    return CompletableFuture.failedFuture(
        new StoreException("the test's " + name + " is down", null));
  }
}
