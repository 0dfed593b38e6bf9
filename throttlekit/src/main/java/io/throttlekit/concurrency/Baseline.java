package io.throttlekit.concurrency;

/**
 * What a request takes that waits for nobody, as far as is known: of {@link ProbedVegasLimit}, in
 * ns. Follows a window's median down by a fifth, and up slowly unless there may be a queue, and is
 * measured. Called by one thread at a time.
 */
final class Baseline {
  private static final double DOWN = 0.2;

  /** A moving average over 60 windows. */
  private static final double UP = 2.0 / 61;

  /** Windows until it is more than the mean of what was seen. */
  private static final int FRESH_WINDOWS = 10;

  /** How near to it a measurement is that confirms it. */
  private static final double CONFIRMS = 0.1;

  /** How far below it a measurement is that it counts nothing against. */
  private static final double FAR_BELOW = 0.2;

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

  /**
   * Learns from requests that waited for nobody.
   *
   * @return whether that confirms what was known
   */
  boolean measured(double median) {
    double known = nanos;
    boolean near = median <= known && median >= (1 - FAR_BELOW) * known;
    nanos = near ? (known + median) / 2 : median;
    return Math.abs(median - known) <= CONFIRMS * known;
  }
}
