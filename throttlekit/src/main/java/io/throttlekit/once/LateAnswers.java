package io.throttlekit.once;

/**
 * Learns what became of a call that its caller no longer waits for. Called on any thread; may not
 * block.
 */
@FunctionalInterface
public interface LateAnswers<T> {
  /** The answer came after all: once, or once for each window that it is of. */
  void answered(Answered<T> answer);

  /**
   * The call ended without an answer, and is not sent again.
   *
   * @param mayHaveActed whether the store may have acted on it; an answer that still comes is
   *     delivered then
   */
  default void ended(boolean mayHaveActed) {}
}
