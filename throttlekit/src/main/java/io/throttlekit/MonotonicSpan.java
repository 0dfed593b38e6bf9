package io.throttlekit;

/**
 * Conversion of milliseconds to a distance between monotonic times in ns. Spans are clamped to a
 * hundred years, because longer ones would overflow.
 */
public final class MonotonicSpan {
  /** The ns per millisecond. */
  public static final long NANOS_PER_MILLI = 1_000_000;

  private static final long MAX_MILLIS = 3_155_760_000_000L; // 100 Julian years

  private MonotonicSpan() {}

  /** Returns {@code millis} in ns, clamped to a hundred years in either direction. */
  public static long nanos(long millis) {
    return Math.clamp(millis, -MAX_MILLIS, MAX_MILLIS) * NANOS_PER_MILLI;
  }
}
