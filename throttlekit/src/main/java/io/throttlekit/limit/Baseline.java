package io.throttlekit.limit;

import io.throttlekit.limit.stats.LatencyQuantiles;

/**
 * The estimate of {@link ProbedVegasLimit} for the latency without a queue, in ns. Not thread-safe.
 */
final class Baseline {
  /** The weight of a shorter latency. */
  private static final double DOWN = 0.3;

  /** The weight of a longer latency that is no queue. */
  private static final double UP = 0.1;

  /** The weight of a longer latency while more requests are in flight than in service. */
  private static final double UP_QUEUED = 0.3;

  /** The multiple of the baseline that a longer latency counts as at most. */
  private static final double MAX_RATIO = 2;

  /** The share of the requests in service that leaves servers idle. */
  private static final double IDLE = 0.9;

  /** Requests without a queue that count. */
  private static final int MIN_UNQUEUED = 5;

  /** Requests whose mean has half of the weight. */
  private static final double HALF_WEIGHT_REQUESTS = 50;

  private static final double MAX_WEIGHT = 0.3;

  /** The factor by which requests without a queue raise the baseline at most. */
  private static final double MAX_RISE = 1.2;

  /** The share of the baseline from which requests without a queue confirm it. */
  private static final double NEAR = 0.75;

  /** The largest relative difference of a measurement that agrees with the baseline. */
  private static final double AGREES = 0.1;

  /** The relative difference below which a measurement is not chance: the baseline was wrong. */
  private static final double FAR_BELOW = 0.2;

  /** The share of the baseline that the shortest measurement leaves: many errors may be fast. */
  private static final double LEFT = 0.5;

  private final LatencyQuantiles unqueued = new LatencyQuantiles();
  private double maxUnqueued;
  private double nanos;

  /** Returns the baseline in ns, or 0 before the first window. */
  double nanos() {
    return nanos;
  }

  /** Starts with a value that was learned before, in ns. */
  void resume(long learnedNanos) {
    nanos = learnedNanos;
  }

  /** Adds a request with a latency. */
  void add(Sample sample) {
    if (sample.inFlight() <= maxUnqueued) {
      unqueued.add(sample.rttNanos());
    }
  }

  /**
   * Ends a window. Requests that began while servers were idle decide; without them, the mean
   * latency of all requests decides, if it is shorter than the baseline or no queue.
   *
   * @param latency mean of all requests of the window, in ns
   * @param requests number of all requests of the window
   * @param queued whether in the window before too many requests were in flight to be there by
   *     chance
   * @param rises whether a longer latency raises the baseline, because it is no queue
   * @return whether requests without a queue confirm the baseline
   */
  boolean follow(double latency, int requests, boolean queued, boolean rises) {
    int count = unqueued.count();
    if (nanos == 0) {
      nanos = latency;
    } else if (count >= MIN_UNQUEUED) {
      double weight = Math.min(MAX_WEIGHT, weight(count));
      double mean = unqueued.trimmedMean();
      nanos += weight * (Math.min(mean, MAX_RISE * nanos) - nanos);
      return mean >= NEAR * nanos;
    } else if (latency < nanos) {
      nanos += DOWN * (latency - nanos);
    } else if (rises) {
      double seen = Math.min(latency, MAX_RATIO * nanos);
      nanos += weight(requests) * (queued ? UP_QUEUED : UP) * (seen - nanos);
    }
    return false;
  }

  /** Returns the weight of a mean of so many requests: a mean of few requests may be chance. */
  private static double weight(int requests) {
    return requests / (requests + HALF_WEIGHT_REQUESTS);
  }

  /**
   * Starts the next window.
   *
   * @param inService requests in service in the window that has ended
   */
  void next(double inService) {
    maxUnqueued = 1 + Math.floor(IDLE * inService);
    unqueued.reset();
  }

  /** Returns whether a measurement agrees with the baseline within a tenth. */
  boolean agrees(double latency) {
    return Math.abs(latency - nanos) <= AGREES * nanos;
  }

  /**
   * Adds a measurement. One that is longer or far below replaces the baseline, down to half of it;
   * one that is a little below may be chance and counts half.
   */
  void measure(double latency) {
    boolean near = latency <= nanos && latency >= (1 - FAR_BELOW) * nanos;
    nanos = near ? (nanos + latency) / 2 : Math.max(latency, LEFT * nanos);
  }
}
