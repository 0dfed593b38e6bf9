package io.throttlekit;

/**
 * Spans of monotonic time: converted from milliseconds, and as two clocks measure them.
 *
 * <p>While a clock is being corrected it runs fast or slow by at most 500 parts per million, the
 * maximum of NTP daemons.
 */
public final class MonotonicSpan {
  /** The ns per millisecond. */
  public static final long NANOS_PER_MILLI = 1_000_000;

  private static final long MAX_MILLIS = 3_155_760_000_000L; // 100 Julian years
  private static final long DRIFT_PARTS = 1_000; // two clocks, each off by 500 ppm

  private MonotonicSpan() {}

  /**
   * Returns {@code millis} in ns, clamped to a hundred years in either direction: longer spans
   * would overflow.
   */
  public static long nanos(long millis) {
    return Math.clamp(millis, -MAX_MILLIS, MAX_MILLIS) * NANOS_PER_MILLI;
  }

  /** Returns the most by which two clocks differ after {@code time}, in the same unit; from 0. */
  public static long drift(long time) {
    return Math.abs(time) / DRIFT_PARTS;
  }

  /**
   * Returns the most that one clock can measure while another measures {@code time}, from 0;
   * rounded up.
   */
  public static long longest(long time) {
    return time + Math.ceilDiv(time, DRIFT_PARTS);
  }
}
