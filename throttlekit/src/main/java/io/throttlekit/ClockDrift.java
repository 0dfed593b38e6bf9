package io.throttlekit;

/**
 * Bounds of the drift between two clocks. While a clock is being corrected it runs fast or slow by
 * at most 500 parts per million, the maximum of NTP daemons.
 */
public final class ClockDrift {
  private static final long PARTS = 1_000; // two clocks, each off by 500 ppm

  private ClockDrift() {}

  /** Returns the most by which two clocks differ after {@code time}, in the same unit; from 0. */
  public static long after(long time) {
    return Math.abs(time) / PARTS;
  }

  /**
   * Returns the most that one clock can measure while another measures {@code time}, from 0;
   * rounded up.
   */
  public static long longest(long time) {
    return time + Math.ceilDiv(time, PARTS);
  }
}
