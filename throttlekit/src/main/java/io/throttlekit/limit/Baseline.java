package io.throttlekit.limit;

import io.throttlekit.limit.stats.LatencyQuantiles;

/**
 * The estimate of {@link ProbedVegasLimit} for the latency without a queue, in ns. Not thread-safe.
 */
final class Baseline {
  /** The weight of a shorter latency. */
  private static final double DOWN = 0.2;

  /** The weight of a longer latency: an exponential moving average over 60 windows. */
  private static final double UP = 2.0 / 61;

  /** Windows in which the baseline rises as a plain mean, and no slower. */
  private static final int FRESH_WINDOWS = 10;

  /** The largest relative difference of a measurement that confirms the baseline. */
  private static final double CONFIRMS = 0.1;

  /** The relative difference below which a measurement is not chance: the baseline was wrong. */
  private static final double FAR_BELOW = 0.2;

  /** The share of the baseline that the shortest measurement leaves: many errors may be fast. */
  private static final double LEFT = 0.5;

  /** Requests that began with few in flight, from which their mean is not chance. */
  private static final int MIN_UNCROWDED = 10;

  private final LatencyQuantiles uncrowded = new LatencyQuantiles();
  private double crowd = Double.MAX_VALUE;
  private double nanos;
  private int windows;

  /** Returns the baseline in ns, or 0 before the first window. */
  double nanos() {
    return nanos;
  }

  /** Starts with a value that was learned before, in ns. */
  void resume(long learnedNanos) {
    nanos = learnedNanos;
    windows = FRESH_WINDOWS;
  }

  /**
   * Adds a request of a window.
   *
   * <p>Those that began with no more than the mean in flight have queued least: with few servers,
   * there is a queue at any load.
   */
  void add(Sample sample) {
    if (!sample.dropped() && sample.inFlight() <= crowd) {
      uncrowded.add(sample.rttNanos());
    }
  }

  /**
   * Ends a window.
   *
   * @param latency mean of all its requests
   * @param saturated whether the limit refused requests, so that others may have queued
   */
  void follow(double latency, boolean saturated) {
    if (saturated || windows == 0) {
      move(latency, saturated);
    } else if (uncrowded.count() >= MIN_UNCROWDED) {
      move(uncrowded.trimmedMean(), false);
    }
  }

  /**
   * Starts the next window.
   *
   * @param meanInFlight requests in flight in the window that has ended
   */
  void next(double meanInFlight) {
    crowd = meanInFlight;
    uncrowded.reset();
  }

  private void move(double latency, boolean saturated) {
    if (windows == 0) {
      windows = 1;
      nanos = latency;
    } else if (latency < nanos) {
      windows++;
      nanos += DOWN * (latency - nanos);
    } else if (!saturated) {
      windows++;
      nanos += (windows <= FRESH_WINDOWS ? 1.0 / windows : UP) * (latency - nanos);
    }
  }

  /** Raises the baseline to a latency that was seen without a queue, in ns. */
  void atLeast(double latency) {
    nanos = Math.max(nanos, latency);
  }

  /** Returns whether a measurement confirms the baseline. */
  boolean isConfirmedBy(double latency) {
    return Math.abs(latency - nanos) <= CONFIRMS * nanos;
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
