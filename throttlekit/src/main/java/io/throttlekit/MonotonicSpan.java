package io.throttlekit;

/**
 * Milliseconds as a distance between two monotonic times, which are in ns. More than a hundred
 * years are a hundred years: longer ones would overflow, and no process lives to see the
 * difference.
 */
public final class MonotonicSpan {
  /** The ns of a millisecond. */
  public static final long NANOS_PER_MILLI = 1_000_000;

  private static final long LONGEST_MILLIS = 3_155_760_000_000L;

  private MonotonicSpan() {}

  /**
   * {@code millis} in ns; what is longer than a hundred years, forwards or backwards, is a hundred
   * years.
   */
  public static long nanos(long millis) {
    return Math.clamp(millis, -LONGEST_MILLIS, LONGEST_MILLIS) * NANOS_PER_MILLI;
  }
}
