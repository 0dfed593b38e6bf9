package io.throttlekit.limit;

/**
 * Settings to measure the latency without load again: at intervals the limit is lowered until a few
 * requests have begun with little in flight and ended. Without it, an algorithm that compares with
 * the least recent latency takes a long-lasting queue for the backend's own latency.
 *
 * @param intervalNanos from the end of one measurement to the start of the next, from 1; a
 *     measurement that takes as long is abandoned
 * @param probeLimit limit during a measurement, within the range of the limit; requests that began
 *     with more in flight do not count
 * @param samples requests that make a measurement, from 1; after as many drops it is abandoned
 */
public record Recalibration(long intervalNanos, int probeLimit, int samples) {

  /**
   * @throws IllegalArgumentException when a number is out of range
   */
  public Recalibration {
    if (intervalNanos < 1 || probeLimit < 1 || samples < 1) {
      throw new IllegalArgumentException(
          "intervalNanos, probeLimit and samples must be at least 1, were %s, %s and %s"
              .formatted(intervalNanos, probeLimit, samples));
    }
  }
}
