package io.throttlekit.once;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;

/** Begins tasks with the same key one after another. Thread-safe; nothing blocks. */
public final class InTurn<K> {
  private final ConcurrentMap<K, CompletableFuture<Boolean>> last = new ConcurrentHashMap<>();

  /**
   * Begins {@code task} when the one before it has ended, which may be at once.
   *
   * @param task may not throw; completes what it is given when it has ended
   */
  public void run(K key, Consumer<CompletableFuture<Boolean>> task) {
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    CompletionStage<Boolean> before = last.put(key, ended);
    var _ = ended.whenComplete((_, _) -> last.remove(key, ended));
    if (before == null) {
      task.accept(ended);
    } else {
      var _ = before.whenComplete((_, _) -> task.accept(ended));
    }
  }

  /** How many keys have a task that has not ended. */
  public int size() {
    return last.size();
  }
}
