package io.throttlekit.limit;

import io.throttlekit.limit.stats.SlicedMean;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A measurement of the latency without a queue, at a lowered limit. Not thread-safe.
 *
 * <p>While throughput does not fall, there is a queue, and the limit falls in growing steps. Once
 * throughput falls, servers are idle, and the remaining latency is the backend's own. A request
 * counts if it ends later than two latencies after the lowered limit came into effect: by then all
 * requests of the old queue have ended except for the slowest, which a mean without outliers
 * ignores. If only requests that began below the lowered limit counted, the first to end would be
 * the shortest. If two latencies exceed a quarter of the timeout, only requests count that began
 * below the lowered limit.
 */
final class Probing implements ProbedVegasState {
  // The next ones were found by experiment: docs/CONCURRENCY.md has the simulator's results.

  /** The relative throughput up to which servers count as idle; 1 would let noise end it. */
  private static final double LESS = 0.87;

  /** The factor of the second step; each later step squares it, so that few steps go far. */
  private static final double SECOND_STEP = 0.64;

  /** Latencies until the old queue has drained. */
  private static final int DRAINED = 2;

  /** The part of the timeout, as a divisor, that may pass until the old queue has drained. */
  private static final int MAX_DRAIN_PART = 4;

  /** The standard error of the mean that ends a measurement. */
  private static final double MAX_ERROR = 0.07;

  /** The time that a sample takes at most, at the throughput before: few requests are slow. */
  private static final double MAX_SAMPLE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The multiple of the latency before the measurement above which latency is no measurement. */
  private static final double LONGER = 1.2;

  /**
   * The share of the requests in flight that are in service at most, where more in flight do not
   * raise throughput. Found by experiment: docs/adr/0019-queue-by-littles-law.md.
   */
  private static final double ENOUGH = 0.625;

  private static final int MAX_REPEATS = 2;

  private final AppliedLimit appliedLimit;
  private final int min;
  private final ProbedVegasLimit.Settings settings;
  private final long timeoutNanos;
  private final long beganNanos;
  private final double initialThroughput;
  private final SlicedMean latencies = new SlicedMean();
  private final double initialLatency;
  private final int maxSamples;
  private int repeats;
  private double latency;
  private double factor = SECOND_STEP;
  private int limit;
  private int applied;
  private boolean acknowledged;
  private boolean stepped;
  private int dropped;
  private long loweredNanos;
  private boolean drains;
  private long appliedNanos;
  private long countsFromNanos;

  /** The result of a measurement. */
  sealed interface Outcome {

    /** The latency in ns with idle servers, or of single requests. */
    record Measured(double nanos) implements Outcome {}

    /**
     * An upper bound of the latency in ns, since the next step timed out, or servers are busy even
     * at the least limit.
     */
    record AtMost(double nanos) implements Outcome {}

    /** Requests were dropped even at this limit. */
    record Overloaded() implements Outcome {}

    /** Too few requests counted in time, or no limiter acknowledged. */
    record Unknown() implements Outcome {}
  }

  /**
   * Lowers the limit for the first time.
   *
   * @param limit lowered limit
   * @param min least limit
   * @param throughput before the measurement, in requests per ns
   * @param latency before the measurement, in ns
   * @param nowNanos when the limit is lowered, monotonic
   * @param appliedLimit the limit that limiters apply
   * @param settings number of requests per measurement, and margin after an acknowledgement
   */
  Probing(
      int limit,
      int min,
      double throughput,
      double latency,
      long nowNanos,
      AppliedLimit appliedLimit,
      ProbedVegasLimit.Settings settings) {
    this.appliedLimit = appliedLimit;
    this.min = min;
    this.settings = settings;
    this.beganNanos = nowNanos;
    this.timeoutNanos = timeoutNanos(settings);
    this.initialThroughput = throughput;
    this.initialLatency = latency;
    this.latency = latency;
    this.maxSamples =
        (int)
            Math.clamp(
                MAX_SAMPLE_NANOS * throughput,
                settings.minProbeSamples(),
                settings.maxProbeSamples());
    lower(limit, nowNanos);
  }

  /**
   * Returns about how long the first step of a measurement would take, in ns.
   *
   * @param throughput in requests per ns
   * @param latency in ns
   */
  static double duration(double throughput, double latency, ProbedVegasLimit.Settings settings) {
    double duration = DRAINED * latency + settings.minProbeSamples() / throughput;
    return Math.min(duration, (double) timeoutNanos(settings));
  }

  /** Returns how long it has taken, in ns. */
  long duration(long nowNanos) {
    return nowNanos - beganNanos;
  }

  /** Returns the lowered limit. */
  int limit() {
    return limit;
  }

  /** Returns the throughput before the measurement, in requests per ns. */
  double initialThroughput() {
    return initialThroughput;
  }

  /** Returns the mean latency before the measurement, in ns. */
  double initialLatency() {
    return initialLatency;
  }

  /** Reports the limit that limiters have acknowledged, summed over all. */
  void acknowledged(int requests, long sinceNanos) {
    if (acknowledged) {
      // Limiters acknowledge one after another: the largest sum below the limit counts.
      applied = Math.max(applied, Math.min(requests, limit));
    } else if (requests <= limit) {
      acknowledged = true;
      applied = Math.max(1, requests);
      // Not before the limit was lowered. Monotonic times are compared by their difference.
      countFrom(Math.max(sinceNanos - loweredNanos, 0) + loweredNanos + settings.marginNanos());
    }
  }

  /** Adds a request that has ended. Returns the result, or null if more samples are needed. */
  @Nullable Outcome learn(Sample sample) {
    if (acknowledged && counts(sample)) {
      if (sample.dropped()) {
        dropped++;
      } else {
        latencies.add(sample.startNanos() + sample.rttNanos(), sample.rttNanos());
      }
    }
    if (isOverloaded()) {
      return new Outcome.Overloaded();
    }
    if (!isPrecise()) {
      return timedOut(sample.arrivedNanos());
    }
    double measured = latencies.mean();
    if (measured > LONGER * initialLatency && repeats < MAX_REPEATS) {
      // A lower limit does not make requests slower: the samples are of an interruption.
      repeats++;
      lower(limit, sample.arrivedNanos());
      return null;
    }
    latency = measured;
    double throughput = applied / latency / initialThroughput;
    if (throughput <= LESS || limit == 1) { // a single request meets no queue
      return new Outcome.Measured(latency);
    }
    if (limit == min) {
      return new Outcome.AtMost(latency * served(throughput));
    }
    stepped = true;
    lower((int) (factor * limit), sample.arrivedNanos());
    factor *= factor;
    return null;
  }

  /** Returns the result if the last step has timed out, else null. */
  @Nullable Outcome timedOut(long nowNanos) {
    if (nowNanos - loweredNanos < timeoutNanos) {
      return null;
    }
    return stepped ? new Outcome.AtMost(latency) : new Outcome.Unknown();
  }

  /** Returns whether limiters acknowledged the lowered limit, for one step at least. */
  boolean isAcknowledged() {
    return acknowledged || stepped;
  }

  private static long timeoutNanos(ProbedVegasLimit.Settings settings) {
    return settings.probeIntervalNanos() / 2;
  }

  /**
   * Returns the share of the requests in flight that are in service at most, if throughput has not
   * fallen at the least limit: all if it has nearly fallen, else so few that more would not raise
   * throughput.
   *
   * @param throughput relative to the throughput before
   */
  private static double served(double throughput) {
    double unchanged = Math.min(1, (throughput - LESS) / (1 - LESS));
    return 1 - unchanged * (1 - ENOUGH);
  }

  private boolean counts(Sample sample) {
    boolean ended = sample.startNanos() + sample.rttNanos() - countsFromNanos >= 0;
    return ended && (drains || sample.startNanos() - appliedNanos >= 0);
  }

  /** Returns whether there are enough samples: few if latencies are alike or requests rare. */
  private boolean isPrecise() {
    return latencies.count() >= maxSamples
        || (latencies.count() >= settings.minProbeSamples()
            && latencies.relativeError() <= MAX_ERROR);
  }

  private boolean isOverloaded() {
    int ended = latencies.count() + dropped;
    // Only with a whole sample: one early drop is not overload.
    return ended >= settings.minProbeSamples()
        && (long) dropped * SampleWindow.DROPPED_ONE_IN > ended;
  }

  private void lower(int to, long nowNanos) {
    limit = Math.max(min, to);
    applied = limit;
    loweredNanos = nowNanos;
    acknowledged = !appliedLimit.acknowledges();
    countFrom(nowNanos);
    latencies.reset();
    dropped = 0;
    if (!acknowledged) { // limiters do not acknowledge again a limit that is low enough already
      acknowledged(appliedLimit.requests(), nowNanos);
    }
  }

  private void countFrom(long nanos) {
    double maxDrain = timeoutNanos / (double) MAX_DRAIN_PART;
    drains = DRAINED * latency <= maxDrain;
    appliedNanos = nanos;
    countsFromNanos = nanos + (long) Math.min(DRAINED * latency, maxDrain);
  }
}
