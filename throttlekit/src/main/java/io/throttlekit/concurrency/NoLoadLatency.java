package io.throttlekit.concurrency;

import org.jspecify.annotations.Nullable;

/**
 * The latency without load: the minimum of the last latencies, optionally measured again at a
 * lowered limit.
 */
final class NoLoadLatency {
  private final WindowedMinimum recent;
  private final @Nullable Recalibration recalibration;
  private final boolean ofMedians;
  private final LatencyQuantiles probe = new LatencyQuantiles();
  private boolean timed;
  private long sinceNanos;
  private boolean probing;
  private int dropped;

  /**
   * @param samples number of latencies in the minimum, from 1
   * @param ofMedians whether the latencies are medians, so that a measurement is one too
   * @throws IllegalArgumentException when a number is out of range
   */
  NoLoadLatency(
      LimitRange range, int samples, boolean ofMedians, @Nullable Recalibration recalibration) {
    if (samples < 1) {
      throw new IllegalArgumentException("the baseline needs a sample at least, not " + samples);
    }
    if (recalibration != null
        && (recalibration.probeLimit() < range.min() || recalibration.probeLimit() > range.max())) {
      throw new IllegalArgumentException(
          "probeLimit must be from "
              + range.min()
              + " to "
              + range.max()
              + " as the limit, was "
              + recalibration.probeLimit());
    }
    this.recent = new WindowedMinimum(samples);
    this.ofMedians = ofMedians;
    this.recalibration = recalibration;
  }

  /**
   * Returns the latency without load, this latency included.
   *
   * @param rttNanos of a request that was not dropped, from 1
   */
  long with(long rttNanos) {
    recent.add(rttNanos);
    return recent.least();
  }

  /** Returns the latency without load, or 0 if none is known. */
  long nanos() {
    return recent.isEmpty() ? 0 : recent.least();
  }

  boolean probing() {
    return probing;
  }

  /** Returns the limit to apply: lower during a measurement. */
  int lowered(int limit) {
    return probing && recalibration != null ? Math.min(limit, recalibration.probeLimit()) : limit;
  }

  /** Starts a measurement if one is due. */
  void probeIfDue(long nowNanos) {
    if (!timed) {
      timed = true;
      sinceNanos = nowNanos;
    }
    if (recalibration != null && nowNanos - sinceNanos >= recalibration.intervalNanos()) {
      probing = true;
      sinceNanos = nowNanos;
      probe.reset();
      dropped = 0;
    }
  }

  /** Adds a request that has ended to the measurement. */
  void probe(Sample sample) {
    if (recalibration == null) {
      return;
    }
    if (sample.dropped()) {
      dropped++;
    } else if (sample.rttNanos() > 0 && sample.inFlight() <= recalibration.probeLimit()) {
      probe.add(sample.rttNanos());
    }
    if (probe.count() >= recalibration.samples()) {
      recent.reset();
      recent.add(ofMedians ? (long) probe.quantile(0.5) : probe.min());
      probing = false;
    } else if (dropped >= recalibration.samples()
        || sample.arrivedNanos() - sinceNanos >= recalibration.intervalNanos()) {
      probing = false; // abandoned: the old minimum stays
    }
    if (!probing) {
      sinceNanos = sample.arrivedNanos();
    }
  }
}
