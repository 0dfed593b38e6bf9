package io.throttlekit.concurrency;

/**
 * What a request takes that waits for nobody, as far as {@link ProbedVegasLimit} knows, in ns.
 * Called by one thread at a time.
 */
final class Baseline {
  /** What part of the difference to a shorter latency it takes over. */
  private static final double DOWN = 0.2;

  /** Of the difference to a longer one: a moving average over 60 windows. */
  private static final double UP = 2.0 / 61;

  /** Windows in which it rises to the mean of what was seen, and no slower. */
  private static final int FRESH_WINDOWS = 10;

  /** How near to it a measurement is that confirms it. */
  private static final double CONFIRMS = 0.1;

  /** How far below it a measurement is that it was wrong, and not the measurement by chance. */
  private static final double FAR_BELOW = 0.2;

  /** What is left of it by the shortest measurement: many errors may be fast. */
  private static final double LEFT = 0.5;

  private double nanos;
  private int windows;

  /** In ns; 0 while nothing is known. */
  double nanos() {
    return nanos;
  }

  /**
   * Learns from a window.
   *
   * @param saturated whether the ceiling kept requests away, so that some may have waited
   */
  void follow(double median, boolean saturated) {
    if (windows == 0) {
      windows = 1;
      nanos = median;
    } else if (median < nanos) {
      windows++;
      nanos += DOWN * (median - nanos);
    } else if (!saturated) {
      windows++;
      nanos += (windows <= FRESH_WINDOWS ? 1.0 / windows : UP) * (median - nanos);
    }
  }

  /** Learns of a latency that was seen without a queue, in ns. */
  void atLeast(double median) {
    nanos = Math.max(nanos, median);
  }

  /** Whether a measurement says the same. */
  boolean isConfirmedBy(double median) {
    return Math.abs(median - nanos) <= CONFIRMS * nanos;
  }

  /**
   * Learns from a measurement. A longer one, and one far below, replaces what was known, down to
   * half of it; one a little below may be chance, and counts half.
   */
  void measure(double median) {
    boolean near = median <= nanos && median >= (1 - FAR_BELOW) * nanos;
    nanos = near ? (nanos + median) / 2 : Math.max(median, LEFT * nanos);
  }
}
