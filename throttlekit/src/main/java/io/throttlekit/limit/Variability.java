package io.throttlekit.limit;

/**
 * How much latency varies by itself from one window to the next, while the limit is full. A change
 * that the limit explains does not count: without a queue latency stays the same, and behind a
 * queue it changes as much as the limit. What is left are changes of the service time or of the
 * capacity.
 *
 * <p>If they are large and frequent, a limit that follows each window is always late, and its
 * decreases are no experiment: that latency does not follow them proves nothing. Steps are
 * therefore smaller, and doubts start a measurement less often. A single change, as of a backend
 * that has become slower, is not enough.
 *
 * <p>Not thread-safe.
 */
final class Variability {
  // Found by experiment: docs/adr/0014-latency-noise.md.

  /** The weight of a window in the mean: 10 windows. */
  private static final double WEIGHT = 0.1;

  /** The largest change that counts: a single window of an interruption must not decide. */
  private static final double MAX_CHANGE = 0.5;

  /** The mean change up to which nothing differs: that of a few hundred requests by chance. */
  private static final double CALM = 0.1;

  /** The mean change from which steps are smallest. */
  private static final double RESTLESS = 0.2;

  /** The share of a step that is left out then. */
  private static final double DAMPING = 0.8;

  private double mean;
  private double lastLimit;
  private double lastLatency;
  private boolean doubted;
  private long doubtNanos;

  /**
   * Adds a window whose limit refused requests.
   *
   * @param applied limit below which its requests began
   * @param latency its mean latency, in ns
   */
  void add(double applied, double latency) {
    if (lastLimit > 0) {
      double change = Math.log(latency / lastLatency);
      double explained = Math.log(applied / lastLimit);
      double above = change - Math.max(0, explained);
      double below = Math.min(0, explained) - change;
      double unexplained = Math.clamp(Math.max(above, below), 0, MAX_CHANGE);
      mean += WEIGHT * (unexplained - mean);
    }
    lastLimit = applied;
    lastLatency = latency;
  }

  /** Skips a window that says nothing: the next one is not compared with earlier ones. */
  void skip() {
    lastLimit = 0;
  }

  /** Returns the limit that an algorithm should move to instead of {@code next}. */
  double damped(double limit, double next) {
    return limit + (1 - DAMPING * level()) * (next - limit);
  }

  /** Records the end of a measurement that was started by decreases without effect. */
  void measuredDoubt(long nowNanos) {
    doubted = true;
    doubtNanos = nowNanos;
  }

  /**
   * Returns whether decreases without effect may start a measurement: at once where latency is
   * constant, else up to an interval after the last one that they started.
   */
  boolean mayDoubt(long nowNanos, long intervalNanos) {
    return !doubted || nowNanos - doubtNanos >= level() * intervalNanos;
  }

  private double level() {
    return Math.clamp((mean - CALM) / (RESTLESS - CALM), 0, 1);
  }
}
