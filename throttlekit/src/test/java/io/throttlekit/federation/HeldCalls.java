package io.throttlekit.federation;

import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Calls that take effect at once and are answered when the test decides, or never. For one thread.
 */
final class HeldCalls {
  private final String name;
  private final Deque<Runnable> replies = new ArrayDeque<>();
  private boolean holding;
  private boolean postponing;
  private boolean failing;
  private boolean refusing;

  /** Whether failing calls take effect nevertheless. */
  private boolean ambiguous;

  HeldCalls(String name) {
    this.name = name;
  }

  /** Holds answers from now on. */
  void hold() {
    holding = true;
  }

  /** Holds calls from now on: they take effect when they are answered. */
  void postpone() {
    holding = true;
    postponing = true;
  }

  /** Delivers the oldest held answer. */
  void answerOne() {
    replies.remove().run();
  }

  /** Delivers all held answers, and holds none any more. */
  void answerAll() {
    holding = false;
    postponing = false;
    while (!replies.isEmpty()) {
      answerOne();
    }
  }

  /** Fails every call from now on, without effect, or no longer. */
  void fail(boolean fails) {
    failing = fails;
  }

  /** Fails every call from now on as one that was not sent. */
  void refuse() {
    refusing = true;
  }

  /** Fails every call from now on, after it took effect. */
  void failAfterwards() {
    ambiguous = true;
  }

  /** Answers every call from now on. */
  void answerAgain() {
    ambiguous = false;
  }

  <T> CompletionStage<T> call(Supplier<CompletionStage<T>> call) {
    if (failing) {
      return down();
    }
    if (refusing) {
      return CompletableFuture.failedFuture(StoreException.notSent("not connected"));
    }
    CompletableFuture<T> stage = new CompletableFuture<>();
    if (postponing) {
      replies.add(() -> deliver(call.get(), stage));
      return stage;
    }
    CompletionStage<T> answer = call.get();
    if (ambiguous) {
      return down();
    }
    if (!holding) {
      return answer;
    }
    replies.add(() -> deliver(answer, stage));
    return stage;
  }

  private static <T> void deliver(CompletionStage<T> answer, CompletableFuture<T> stage) {
    var _ =
        answer.whenComplete((value, failure) -> {
          if (failure == null) {
            stage.complete(value);
          } else {
            stage.completeExceptionally(failure);
          }
        });
  }

  private <T> CompletionStage<T> down() {
    return CompletableFuture.failedFuture(
        new StoreException("the test's " + name + " is down", null));
  }
}
