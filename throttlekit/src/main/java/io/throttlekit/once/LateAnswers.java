package io.throttlekit.once;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Receives the outcome of a call whose caller no longer waits. Called on any thread; must not
 * block.
 */
@FunctionalInterface
public interface LateAnswers<T> {
  /**
   * Called for a late response: once, or once for each window that answered. Called without one
   * when the call has ended and is not retried.
   *
   * @param answer null when the call has ended without a response
   * @param mayHaveActed whether the store has acted on the call, or may have; a response that still
   *     arrives is delivered then
   */
  void ended(@Nullable Answered<T> answer, boolean mayHaveActed);

  /** Returns a receiver of late responses that ignores calls without one. */
  static <T> LateAnswers<T> of(Consumer<Answered<T>> answered) {
    return (answer, _) -> {
      if (answer != null) {
        answered.accept(answer);
      }
    };
  }
}
