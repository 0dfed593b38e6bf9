package io.throttlekit.once;

import io.throttlekit.TimeSource;

/**
 * The time, and something that runs tasks later.
 *
 * @param time the monotonic clock is read
 */
public record Clocks(TimeSource time, Alarm alarm) {

  /** Runs things later. Thread-safe. */
  @FunctionalInterface
  public interface Alarm {
    /**
     * Runs {@code task} once, on a thread where it may not block.
     *
     * @param nanos from now, above 0
     */
    void runAfter(long nanos, Runnable task);
  }
}
