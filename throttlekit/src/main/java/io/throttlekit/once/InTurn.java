package io.throttlekit.once;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;

/** Serializes tasks with the same key. Thread-safe and non-blocking. */
public final class InTurn<K> {
  private final ConcurrentMap<K, CompletableFuture<Boolean>> last = new ConcurrentHashMap<>();

  /**
   * Starts {@code task} when the previous one with the same key has ended, possibly at once.
   *
   * @param task must not throw; completes its argument when it has ended
   */
  public void run(K key, Consumer<CompletableFuture<Boolean>> task) {
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    CompletionStage<Boolean> before = last.put(key, ended);
    // Registered before the task runs; removes the key only if no later task has replaced it.
    var _ = ended.whenComplete((_, _) -> last.remove(key, ended));
    if (before == null) {
      task.accept(ended);
    } else {
      var _ = before.whenComplete((_, _) -> task.accept(ended));
    }
  }

  /** Returns the number of keys with a task that has not ended. */
  public int size() {
    return last.size();
  }
}
