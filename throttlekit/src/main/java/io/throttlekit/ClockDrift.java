package io.throttlekit;

/**
 * How far two clocks can drift apart: each, while it is being corrected, runs fast or slow by at
 * most 500 in a million, which is what NTP's daemons allow themselves.
 */
public final class ClockDrift {
  private static final long PARTS = 1_000;

  private ClockDrift() {}

  /** The most that two clocks differ by after so long, in the unit of {@code time}; from 0. */
  public static long after(long time) {
    return Math.abs(time) / PARTS;
  }

  /** The most that one clock can count while another counts {@code time}, from 0; rounded up. */
  public static long longest(long time) {
    return time + Math.ceilDiv(time, PARTS);
  }
}
