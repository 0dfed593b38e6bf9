package io.throttlekit;

/** Schedules tasks. Thread-safe. */
@FunctionalInterface
public interface Timer {

  /**
   * Runs {@code task} once, on a thread that must not be blocked.
   *
   * @param nanos from now, above 0
   */
  void runAfter(long nanos, Runnable task);
}
