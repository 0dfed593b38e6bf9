package io.throttlekit.bench.load;

import java.util.List;
import org.HdrHistogram.AbstractHistogram;

/**
 * Result of one load.
 *
 * @param answers number of replies, OK or OVER_LIMIT
 * @param refused number of OVER_LIMIT replies among them
 * @param failed number of calls that ended with an error, or never
 * @param elapsedNanos time from the first request to the last reply
 * @param latencies of the replies, in ns
 * @param answersPerSecond replies in each second since the start; the last one is incomplete
 */
public record LoadResult(
    long answers,
    long refused,
    long failed,
    long elapsedNanos,
    AbstractHistogram latencies,
    List<Long> answersPerSecond) {

  /** Returns replies per second over the whole load. */
  public double perSecond() {
    return answers * 1e9 / elapsedNanos;
  }

  /** Returns the latency in ms at a percentile. */
  public double millisAt(double percentile) {
    return latencies.getValueAtPercentile(percentile) / 1e6;
  }

  /** Returns a one-line description. */
  @Override
  public String toString() {
    return "%,d answers (%,d over limit, %,d failed) in %.2f s: %,.0f/s, p50 %.3f p90 %.3f p99 %.3f p99.9 %.3f max %.3f ms"
        .formatted(
            answers,
            refused,
            failed,
            elapsedNanos / 1e9,
            perSecond(),
            millisAt(50),
            millisAt(90),
            millisAt(99),
            millisAt(99.9),
            latencies.getMaxValue() / 1e6);
  }
}
