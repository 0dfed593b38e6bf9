package io.throttlekit.limit;

import io.throttlekit.limit.stats.LatencyQuantiles;
import org.jspecify.annotations.Nullable;

/**
 * The samples since the limit last changed. A single latency is noise, and an algorithm that
 * follows single latencies follows the noise.
 *
 * <p>A request counts in the window in which this process received its end, in any order. A dropped
 * request has no latency, and a latency of 0 is not a measurement.
 */
final class SampleWindow {
  /**
   * With more than one dropped request in so many (5 %), the drops decide and latency is ignored:
   * the latencies of those that were not dropped would understate the overload.
   */
  static final int DROPPED_ONE_IN = 20;

  /** A limit that refuses up to one request in so many is not full: bursts may touch any limit. */
  private static final int SATURATED_ONE_IN = 200;

  private final WindowSettings settings;
  private final LatencyQuantiles latencies = new LatencyQuantiles();
  private boolean begun;
  private long beganNanos;
  private long spanNanos;
  private int dropped;
  private long refused;
  private int maxInFlight;
  private long sumInFlight;
  private boolean full;

  SampleWindow(WindowSettings settings) {
    this.settings = settings;
    this.spanNanos = settings.minNanos();
  }

  /** Sets the current time. The first call starts the first window. */
  void at(long nowNanos) {
    // monotonic time does not run backwards: the earlier one was wrong
    if (!begun || nowNanos - beganNanos < 0) {
      begun = true;
      beganNanos = nowNanos;
    }
  }

  /** Adds a request that has ended. */
  void add(Sample sample) {
    at(sample.arrivedNanos());
    if (sample.dropped()) {
      dropped++;
    } else if (sample.rttNanos() > 0) {
      latencies.add(sample.rttNanos());
    } else {
      return;
    }
    maxInFlight = Math.max(maxInFlight, sample.inFlight());
    sumInFlight += sample.inFlight();
    full |= sample.full();
  }

  /** Counts requests that the limit kept from the backend. */
  void refused(long nowNanos, long requests) {
    at(nowNanos);
    refused = Math.max(refused, refused + requests); // saturates on overflow
  }

  /** Returns whether the window is long enough and has enough samples. */
  boolean ripe(long nowNanos) {
    return nowNanos - beganNanos > spanNanos
        && (latencies.count() >= settings.minSamples()
            || (overloaded() && latencies.count() + (long) dropped >= settings.minSamples()));
  }

  /** Returns whether so many requests were dropped that latency is ignored. */
  boolean overloaded() {
    return dropped > (latencies.count() + (long) dropped) / (double) DROPPED_ONE_IN;
  }

  /** Returns whether the limit refused more than 0.5 % of the requests. */
  boolean saturated() {
    return refused > (latencies.count() + (double) dropped + refused) / SATURATED_ONE_IN;
  }

  long refused() {
    return refused;
  }

  int maxInFlight() {
    return maxInFlight;
  }

  /** Returns the requests that have ended. */
  int requests() {
    return latencies.count() + dropped;
  }

  /** Returns the mean of the requests in flight when these began; there must be at least one. */
  double meanInFlight() {
    return (double) sumInFlight / requests();
  }

  /** Returns whether a latency was measured. */
  boolean measured() {
    return latencies.count() > 0;
  }

  /** Returns a quantile of the latencies, of which there must be at least one. */
  double quantile(double q) {
    return latencies.quantile(q);
  }

  /** Returns the mean of the latencies without outliers; there must be at least one. */
  double trimmedMean() {
    return latencies.trimmedMean();
  }

  /**
   * Adds a request. If the window is complete, ends it and returns it as one sample: the median
   * latency, the most in flight, dropped if too many were. Returns null otherwise.
   */
  @Nullable Sample endedBy(Sample sample) {
    add(sample);
    if (!ripe(sample.arrivedNanos())) {
      return null;
    }
    long rtt = measured() ? (long) latencies.quantile(0.5) : 0;
    Sample all =
        new Sample(
            sample.startNanos(), rtt, sample.arrivedNanos(), maxInFlight, full, overloaded());
    next(sample.arrivedNanos());
    return all;
  }

  /** Starts the next window. */
  void next(long nowNanos) {
    beganNanos = nowNanos;
    if (measured()) {
      long twice = 2 * Math.min(latencies.min(), Long.MAX_VALUE / 2); // may not overflow
      spanNanos = Math.clamp(twice, settings.minNanos(), settings.maxNanos());
    }
    latencies.reset();
    dropped = 0;
    refused = 0;
    maxInFlight = 0;
    sumInFlight = 0;
    full = false;
  }
}
