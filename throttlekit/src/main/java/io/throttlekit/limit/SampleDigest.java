package io.throttlekit.limit;

import io.throttlekit.limit.stats.LatencyQuantiles;
import java.util.List;

/**
 * The samples of one node in a period. Numbers out of range are clamped.
 *
 * @param answered samples with a latency, from 0
 * @param dropped requests that timed out or were cancelled, from 0
 * @param refused requests that the node's share refused, from 0
 * @param inFlight the most requests in flight at the node, from 0
 * @param full whether the node had as many in flight as its share allows
 * @param statistics of single requests, which the latencies do not contain
 * @param latencies the latencies in the middle of equal parts of those with a latency, ascending,
 *     ns from 1; at most {@value #MAX_LATENCIES}, and none without samples
 */
public record SampleDigest(
    long answered,
    long dropped,
    long refused,
    int inFlight,
    boolean full,
    RequestStatistics statistics,
    List<Long> latencies) {

  /** The most latencies of a digest: its quantiles are exact to one in 40. */
  public static final int MAX_LATENCIES = 20;

  private static final long MAX_COUNT = 1L << 40; // a sum of them does not overflow

  /** The most requests in flight: sums of them are far from overflow. */
  public static final int MAX_REQUESTS = 1 << 30;

  private static final long MAX_NANOS = 3_600_000_000_000L; // an hour

  /**
   * @throws IllegalArgumentException when there are too many latencies, or some without a sample
   */
  public SampleDigest {
    answered = Math.clamp(answered, 0L, MAX_COUNT);
    dropped = Math.clamp(dropped, 0L, MAX_COUNT);
    refused = Math.clamp(refused, 0L, MAX_COUNT);
    inFlight = Math.clamp(inFlight, 0, MAX_REQUESTS);
    latencies = latencies.stream().map(nanos -> Math.clamp(nanos, 1L, MAX_NANOS)).sorted().toList();
    if (latencies.size() > MAX_LATENCIES || latencies.isEmpty() != (answered == 0)) {
      throw new IllegalArgumentException(
          "%s latencies of %s samples; a digest has from 1 to %s, and none of no samples"
              .formatted(latencies.size(), answered, MAX_LATENCIES));
    }
  }

  /** Returns the latency below which the fraction {@code q} of them lies, interpolated. */
  public long latency(double q) {
    return Math.round(LatencyQuantiles.interpolated(q, latencies.size(), latencies::get));
  }

  /** Returns the sum of all latencies in ns, by their quantiles. */
  public double busyNanos() {
    double sum = 0;
    for (long nanos : latencies) {
      sum += nanos;
    }
    return sum == 0 ? 0 : answered * sum / latencies.size();
  }
}
