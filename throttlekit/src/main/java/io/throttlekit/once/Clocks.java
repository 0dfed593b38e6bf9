package io.throttlekit.once;

import io.throttlekit.TimeSource;

/**
 * A clock and a scheduler.
 *
 * @param time source of monotonic time
 */
public record Clocks(TimeSource time, Alarm alarm) {

  /** Schedules tasks. Thread-safe. */
  @FunctionalInterface
  public interface Alarm {
    /**
     * Runs {@code task} once, on a thread that must not be blocked.
     *
     * @param nanos delay, above 0
     */
    void runAfter(long nanos, Runnable task);
  }
}
