package io.throttlekit.bench;

import java.util.List;
import org.HdrHistogram.AbstractHistogram;

/**
 * What came back from one load.
 *
 * @param answers calls that were answered, OK or OVER_LIMIT
 * @param refused those of them that said OVER_LIMIT
 * @param failed calls that ended with an error, or never
 * @param elapsedNanos from the first request to the last answer
 * @param latencies of the answers, in ns
 * @param answersPerSecond answers in each second since the start; the last one is not whole
 */
record LoadResult(
    long answers,
    long refused,
    long failed,
    long elapsedNanos,
    AbstractHistogram latencies,
    List<Long> answersPerSecond) {

  /** Answers per second over the whole load. */
  double perSecond() {
    return answers * 1e9 / elapsedNanos;
  }

  /** The latency in ms that so many percent of the answers stayed within. */
  double millisAt(double percentile) {
    return latencies.getValueAtPercentile(percentile) / 1e6;
  }

  /** One line for people. */
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
