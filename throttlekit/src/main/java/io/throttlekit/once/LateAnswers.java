package io.throttlekit.once;

/**
 * Receives the outcome of a call whose caller no longer waits. Called on any thread; must not
 * block.
 */
@FunctionalInterface
public interface LateAnswers<T> {
  /** Called for a late response: once, or once for each window that answered. */
  void answered(Answered<T> answer);

  /**
   * Called when the call has ended without a response and is not retried.
   *
   * @param mayHaveActed whether the store may have acted on it; a response that still arrives is
   *     delivered then
   */
  default void ended(boolean mayHaveActed) {}
}
