package io.throttlekit.concurrency;

/**
 * How a law measures anew what latency is without a queue: now and then the ceiling is lowered
 * until a few requests have begun with little in flight and ended. Without it a law that compares
 * with the least latency seen lately takes a queue that stands for long enough to be the backend's
 * nature.
 *
 * @param intervalNanos from the end of one measurement to the next, from 1; a measurement that
 *     takes as long is given up
 * @param probeLimit the ceiling meanwhile, from the least ceiling to the greatest; requests that
 *     began with more in flight do not count
 * @param samples requests that make a measurement, from 1; if as many are given up, so is the
 *     measurement
 */
public record Recalibration(long intervalNanos, int probeLimit, int samples) {

  /**
   * @throws IllegalArgumentException when a number is out of range
   */
  public Recalibration {
    if (intervalNanos < 1 || probeLimit < 1 || samples < 1) {
      throw new IllegalArgumentException(
          "intervalNanos, probeLimit and samples must be at least 1, were "
              + intervalNanos
              + ", "
              + probeLimit
              + " and "
              + samples);
    }
  }
}
