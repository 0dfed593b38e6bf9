package io.throttlekit.limit;

import java.util.concurrent.TimeUnit;

/**
 * The length of a sample window. A request counts in the window in which this process received its
 * end. A window lasts twice the shortest latency of the window before it, clamped to the two spans,
 * and then until enough requests have ended, however long that takes: limits adapt slowly with
 * little traffic.
 *
 * @param minNanos least span, from 1
 * @param maxNanos greatest span that is derived from latency, from {@code minNanos}
 * @param minSamples requests per window, from 1
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
          ("a window needs 1 <= minNanos <= maxNanos and 1 <= minSamples, but minNanos is %s,"
                  + " maxNanos %s and minSamples %s")
              .formatted(minNanos, maxNanos, minSamples));
    }
  }

  /** Returns spans from 1 s to 30 s, and 50 requests. */
  public static WindowSettings defaults() {
    return DEFAULTS;
  }
}
