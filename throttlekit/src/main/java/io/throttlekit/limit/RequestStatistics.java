package io.throttlekit.limit;

import io.throttlekit.limit.stats.Slope;

/**
 * Statistics of the single requests of a node, beside their latencies. Numbers out of range are
 * clamped.
 *
 * @param slopeNanos by how much latency rises with each request in flight, in ns
 * @param errorNanos standard error of the slope in ns, from 1; 0 without a slope
 * @param dispersion variance of the arrivals by their mean, in thousandths, from 1,000
 */
public record RequestStatistics(long slopeNanos, long errorNanos, long dispersion) {
  /** The statistics of no requests. */
  public static final RequestStatistics NONE = new RequestStatistics(0, 0, 0);

  private static final long MAX_NANOS = 3_600_000_000_000L; // an hour
  private static final long RANDOM = 1_000;

  /** Bursts of a thousand; more would only let a broken node raise the limit of its fleet. */
  private static final long MAX_DISPERSION = 1_000_000;

  /** Clamps the numbers. */
  public RequestStatistics {
    slopeNanos = Math.clamp(slopeNanos, -MAX_NANOS, MAX_NANOS);
    errorNanos = Math.clamp(errorNanos, 0L, MAX_NANOS);
    dispersion = Math.clamp(dispersion, RANDOM, MAX_DISPERSION);
  }

  /** Returns the statistics of a regression of latency, in ns, on the requests in flight. */
  static RequestStatistics of(Slope slope, double dispersion) {
    boolean known = slope.precision() > 0;
    return new RequestStatistics(
        known ? (long) slope.value() : 0,
        known ? Math.max(1, (long) (1 / Math.sqrt(slope.precision()))) : 0,
        (long) (RANDOM * dispersion));
  }

  /** Returns the slope in ns and its precision, unknown without a slope. */
  Slope slope() {
    return errorNanos == 0
        ? Slope.UNKNOWN
        : new Slope(slopeNanos, 1 / ((double) errorNanos * errorNanos));
  }

  /** Returns the variance of the arrivals by their mean, from 1. */
  double arrivals() {
    return dispersion / (double) RANDOM;
  }
}
