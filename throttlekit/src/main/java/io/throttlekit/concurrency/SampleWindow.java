package io.throttlekit.concurrency;

import org.jspecify.annotations.Nullable;

/**
 * What requests experienced since the last time that a law moved. A single latency is noise, and a
 * law that believes it follows the noise.
 *
 * <p>Requests count towards the window in which this process heard of their end, in any order. A
 * request given up has no latency, and a latency of 0 was never measured.
 */
final class SampleWindow {
  /** Beyond one in so many, requests given up are the evidence, and latency is not looked at. */
  private static final int ONE_IN = 20;

  private final WindowSettings settings;
  private final LatencyQuantiles latencies = new LatencyQuantiles();
  private boolean begun;
  private long beganNanos;
  private long spanNanos;
  private int dropped;
  private long refused;
  private int maxInFlight;
  private boolean full;

  SampleWindow(WindowSettings settings) {
    this.settings = settings;
    this.spanNanos = settings.minNanos();
  }

  /** Says what time it is: the first window begins with the first time that is told. */
  void at(long nowNanos) {
    if (!begun || nowNanos - beganNanos < 0) { // time does not run backwards: the earlier was wrong
      begun = true;
      beganNanos = nowNanos;
    }
  }

  /** Counts a request in that has ended. */
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
    full |= sample.full();
  }

  /** Counts requests in that the ceiling kept from the backend. */
  void refused(long nowNanos, long requests) {
    at(nowNanos);
    refused = Math.max(refused, refused + requests); // a sum that overflows is more than enough
  }

  /** Whether enough is known by now to move. */
  boolean ripe(long nowNanos) {
    return nowNanos - beganNanos > spanNanos
        && (latencies.count() >= settings.minSamples()
            || (overloaded() && latencies.count() + (long) dropped >= settings.minSamples()));
  }

  /** Whether so many requests were given up that nothing else needs to be known. */
  boolean overloaded() {
    return dropped > (latencies.count() + (long) dropped) / (double) ONE_IN;
  }

  /** Whether the ceiling kept more than one in 200 requests from the backend. */
  boolean saturated() {
    return refused > (latencies.count() + (double) dropped + refused) / 200;
  }

  /** Whether it kept more than one in ten from it: it must have been full nearly all the time. */
  boolean crowded() {
    return refused > (latencies.count() + (double) dropped + refused) / 10;
  }

  long refused() {
    return refused;
  }

  int maxInFlight() {
    return maxInFlight;
  }

  /** Whether there is a latency to ask for. */
  boolean measured() {
    return latencies.count() > 0;
  }

  /** The latency below which this share of the requests lies, where one was measured. */
  double quantile(double q) {
    return latencies.quantile(q);
  }

  /**
   * Counts a request in, and if that is enough to move, ends the window and returns it as if it
   * were one request: the median latency, the most that was in flight, given up if too many were.
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

  /** Begins the next window. */
  void next(long nowNanos) {
    beganNanos = nowNanos;
    if (measured()) {
      spanNanos =
          latencies.min() > settings.maxNanos() / 2
              ? settings.maxNanos()
              : Math.max(settings.minNanos(), 2 * latencies.min());
    }
    empty();
  }

  /** Forgets all, also what time it is. */
  void reset() {
    begun = false;
    spanNanos = settings.minNanos();
    empty();
  }

  private void empty() {
    latencies.reset();
    dropped = 0;
    refused = 0;
    maxInFlight = 0;
    full = false;
  }
}
