package io.throttlekit.concurrency;

/**
 * A measurement of the latency without a queue, at a lowered limit.
 *
 * <p>While throughput does not fall, there is a queue, and the limit falls in growing steps. Once
 * throughput falls, servers are idle, and the remaining latency is the backend's own. A request
 * counts if it ends later than two latencies after the lowered limit came into effect: by then all
 * requests of the old queue have ended except for the slowest, which do not affect a median. If
 * only requests that began below the lowered limit counted, the first to end would be the shortest.
 * If two latencies exceed a quarter of the timeout, only requests count that began below the
 * lowered limit.
 */
final class Descent {
  /** The relative throughput up to which servers count as idle. */
  private static final double LESS = 0.95;

  /** The factor of the second step; each later step squares it. */
  private static final double FURTHER = 0.8;

  /** Latencies until the old queue has drained. */
  private static final int DRAINED = 2;

  /** The part of the timeout, as a divisor, that may pass until the old queue has drained. */
  private static final int DRAINED_AT_MOST = 4;

  private static final int GIVEN_UP_ONE_IN = 20; // as in SampleWindow: 5 % is overload

  private final int min;
  private final int samples;
  private final long marginNanos;
  private final long waitTimeoutNanos;
  private final LatencyQuantiles latencies = new LatencyQuantiles();
  private int limit;
  private int letIn;
  private double throughput;
  private double median;
  private double further = FURTHER;
  private boolean stepped;
  private int dropped;
  private long loweredNanos;
  private boolean obeyed;
  private boolean drains;
  private long obeyedNanos;
  private long countsFromNanos;

  /** The result of a sample. */
  sealed interface Outcome {

    /** More samples are needed. */
    record Continues() implements Outcome {}

    /** The latency in ns with idle servers, or at the least limit. */
    record Measured(double nanos) implements Outcome {}

    /** The latency in ns with a possible queue, since the next step timed out. */
    record AtMost(double nanos) implements Outcome {}

    /** Requests were dropped even at this limit. */
    record Overloaded(int limit) implements Outcome {}

    /** Too few requests counted in time, or no limiter acknowledged. */
    record Unknown() implements Outcome {}
  }

  private static final Outcome CONTINUES = new Outcome.Continues();

  /**
   * Lowers the limit for the first time.
   *
   * @param limit lowered limit
   * @param min least limit
   * @param throughput before the measurement, in requests per ns
   * @param median latency before the measurement, in ns
   * @param nowNanos when the limit is lowered, monotonic
   * @param told whether limiters acknowledge limits; otherwise they apply them at once
   * @param settings number of requests per measurement, and margin after an acknowledgement
   */
  Descent(
      int limit,
      int min,
      double throughput,
      double median,
      long nowNanos,
      boolean told,
      ProbedVegasLimit.Settings settings) {
    this.min = min;
    this.samples = settings.probeSamples();
    this.marginNanos = settings.marginNanos();
    this.waitTimeoutNanos = settings.probeIntervalNanos() / 2;
    this.throughput = throughput;
    this.median = median;
    lower(limit, nowNanos, told);
  }

  /** Returns the lowered limit. */
  int limit() {
    return limit;
  }

  /** Reports the limit that limiters have acknowledged, summed over all. */
  void inForce(int requests, long sinceNanos) {
    if (obeyed) {
      // Limiters acknowledge one after another: the largest sum below the limit counts.
      letIn = Math.max(letIn, Math.min(requests, limit));
    } else if (requests <= limit) {
      obeyed = true;
      letIn = Math.max(1, requests);
      // Not before the limit was lowered. Monotonic times are compared by their difference.
      countFrom(Math.max(sinceNanos - loweredNanos, 0) + loweredNanos + marginNanos);
    }
  }

  /**
   * Adds a request that has ended.
   *
   * @param told whether limiters acknowledge limits
   */
  Outcome learn(Sample sample, boolean told) {
    if (obeyed && counts(sample)) {
      if (sample.dropped()) {
        dropped++;
      } else {
        latencies.add(sample.rttNanos());
      }
    }
    if (overloaded()) {
      return new Outcome.Overloaded(limit);
    }
    if (latencies.count() < samples) {
      return isOver(sample.arrivedNanos()) ? givenUp() : CONTINUES;
    }
    median = latencies.quantile(0.5);
    double lowered = letIn / median;
    if (lowered <= LESS * throughput || limit == min) {
      return new Outcome.Measured(median);
    }
    stepped = true;
    throughput = Math.max(throughput, lowered);
    lower((int) (further * limit), sample.arrivedNanos(), told);
    further *= further;
    return CONTINUES;
  }

  /** Returns the result of a measurement that {@link #isOver}. */
  Outcome givenUp() {
    return stepped ? new Outcome.AtMost(median) : new Outcome.Unknown();
  }

  /** Returns whether limiters acknowledged the lowered limit, for one step at least. */
  boolean isObeyed() {
    return obeyed || stepped;
  }

  /** Returns whether the last step has timed out. */
  boolean isOver(long nowNanos) {
    return nowNanos - loweredNanos >= waitTimeoutNanos;
  }

  private boolean counts(Sample sample) {
    boolean ended = sample.startNanos() + sample.rttNanos() - countsFromNanos >= 0;
    return ended && (drains || sample.startNanos() - obeyedNanos >= 0);
  }

  private boolean overloaded() {
    int ended = latencies.count() + dropped;
    // Only with a whole sample: one early drop is not overload.
    return ended >= samples && (long) dropped * GIVEN_UP_ONE_IN > ended;
  }

  private void lower(int to, long nowNanos, boolean told) {
    limit = Math.max(min, to);
    letIn = limit;
    loweredNanos = nowNanos;
    obeyed = !told;
    countFrom(nowNanos);
    latencies.reset();
    dropped = 0;
  }

  private void countFrom(long nanos) {
    double most = waitTimeoutNanos / (double) DRAINED_AT_MOST;
    drains = DRAINED * median <= most;
    obeyedNanos = nanos;
    countsFromNanos = nanos + (long) Math.min(DRAINED * median, most);
  }
}
