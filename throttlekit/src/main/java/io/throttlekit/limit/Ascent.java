package io.throttlekit.limit;

/**
 * The rise of a full limit. If latency rises much less than the limit, requests do not queue,
 * whatever the baseline is: by Little's law throughput has risen as much as the limit. Not
 * thread-safe.
 */
final class Ascent {
  /** The factor by which the limit must have risen for latency to show a queue. */
  private static final double NOTICEABLE = 1.25;

  /**
   * The share of the rise that latency follows at most without a queue; behind a queue it follows
   * all of it.
   */
  private static final double FOLLOWS = 0.4;

  private double limit;
  private double latency;

  /**
   * Adds a window whose limit was full.
   *
   * @param applied limit below which its requests began
   * @param mean its mean latency, in ns
   * @return a latency in ns that was seen without a queue, or 0
   */
  double learn(double applied, double mean) {
    boolean risen = limit > 0 && applied >= NOTICEABLE * limit;
    // Too small a rise to compare: kept as a further sample of the lower limit.
    if (limit > 0 && applied >= limit && !risen) {
      latency = (latency + mean) / 2; // averaged: the minimum of noisy means is too short
      return 0;
    }
    boolean unqueued = risen && mean < latency * (1 + FOLLOWS * (applied / limit - 1));
    double seen = unqueued ? Math.min(mean, latency) : 0;
    limit = applied;
    latency = mean;
    return seen;
  }

  /** Starts again: the next window is not compared with earlier ones. */
  void forget() {
    limit = 0;
  }
}
