package io.throttlekit.once;

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
}
