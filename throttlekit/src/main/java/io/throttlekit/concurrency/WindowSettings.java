package io.throttlekit.concurrency;

import java.util.concurrent.TimeUnit;

/**
 * When what requests experienced is enough to move a ceiling. A window follows the time at which
 * this process heard of its requests. It lasts twice the shortest latency of the window before it,
 * within the two spans given, and then until enough requests have ended, however long that takes:
 * little traffic learns slowly, but it learns.
 *
 * @param minNanos the least span, from 1
 * @param maxNanos how much of a span may come from latency, from {@code minNanos}
 * @param minSamples requests that a window needs, from 1
 */
public record WindowSettings(long minNanos, long maxNanos, int minSamples) {
  private static final WindowSettings DEFAULTS =
      new WindowSettings(TimeUnit.SECONDS.toNanos(1), TimeUnit.SECONDS.toNanos(30), 50);

  /**
   * @throws IllegalArgumentException when a number is out of range
   */
  public WindowSettings {
    if (minNanos < 1 || maxNanos < minNanos || minSamples < 1) {
      throw new IllegalArgumentException(
          "a window needs 1 <= minNanos <= maxNanos and 1 <= minSamples, but minNanos is "
              + minNanos
              + ", maxNanos "
              + maxNanos
              + " and minSamples "
              + minSamples);
    }
  }

  /** From 1 s to 30 s, and 50 requests. */
  public static WindowSettings defaults() {
    return DEFAULTS;
  }
}
