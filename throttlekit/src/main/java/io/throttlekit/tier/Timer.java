package io.throttlekit.tier;

/** Runs things later. Thread-safe. */
@FunctionalInterface
public interface Timer {

  /**
   * Runs {@code task} once, on a thread where it may not block.
   *
   * @param nanos from now, above 0
   */
  void runAfter(long nanos, Runnable task);
}
