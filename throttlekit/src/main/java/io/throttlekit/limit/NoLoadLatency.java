package io.throttlekit.limit;

import io.throttlekit.limit.stats.LatencyQuantiles;
import io.throttlekit.limit.stats.MaxWindow;
import org.jspecify.annotations.Nullable;

/**
 * The samples of an algorithm that compares latency with the latency without load: the minimum of
 * the last latencies, optionally measured again at a lowered limit. Not thread-safe.
 */
final class NoLoadLatency {
  /** The latency without load in ns, or 0 if none is known. */
  long nanos;

  private final @Nullable SampleWindow window;
  private final @Nullable Recalibration recalibration;
  private final int samples;
  private final LatencyQuantiles probe = new LatencyQuantiles();
  private MaxWindow recent;
  private long count;
  private boolean timed;
  private long sinceNanos;
  private boolean probing;
  private int dropped;

  /**
   * @param samples number of latencies in the minimum, from 1
   * @param settings null for an algorithm that changes its limit with each request
   * @throws IllegalArgumentException when a number is out of range
   */
  NoLoadLatency(
      LimitRange range,
      int samples,
      @Nullable WindowSettings settings,
      @Nullable Recalibration recalibration) {
    if (recalibration != null
        && (recalibration.probeLimit() < range.min() || recalibration.probeLimit() > range.max())) {
      throw new IllegalArgumentException(
          "probeLimit must be from %s to %s as the limit, was %s"
              .formatted(range.min(), range.max(), recalibration.probeLimit()));
    }
    this.samples = samples;
    this.recent = new MaxWindow(samples);
    this.window = settings == null ? null : new SampleWindow(settings);
    this.recalibration = recalibration;
  }

  /**
   * Returns the latency without load, this latency included.
   *
   * @param rttNanos of a request that was not dropped, from 1
   */
  long with(long rttNanos) {
    nanos = -recent.add(-rttNanos, ++count); // the minimum, as a maximum of negated values
    return nanos;
  }

  boolean probing() {
    return probing;
  }

  /** Returns the limit to apply: lower during a measurement. */
  int lowered(int limit) {
    return probing && recalibration != null ? Math.min(limit, recalibration.probeLimit()) : limit;
  }

  /**
   * Adds a request that has ended, and starts a measurement if one is due. Returns the sample that
   * may change the limit, or null within a window and during a measurement.
   */
  @Nullable Sample learn(Sample sample) {
    if (recalibration != null) {
      if (probing) {
        probe(sample, recalibration);
        return null;
      }
      probeIfDue(sample.arrivedNanos(), recalibration);
    }
    return window == null ? sample : window.endedBy(sample);
  }

  /**
   * Passes the time, because a measurement must end even if no sample arrives any more.
   *
   * @param nowNanos monotonic
   */
  void onTick(long nowNanos) {
    if (probing && recalibration != null && hasTimedOut(nowNanos, recalibration)) {
      restore(nowNanos);
    }
  }

  private boolean hasTimedOut(long nowNanos, Recalibration settings) {
    return nowNanos - sinceNanos >= settings.intervalNanos();
  }

  private void probeIfDue(long nowNanos, Recalibration settings) {
    if (!timed) { // the first interval starts with the first sample
      timed = true;
      sinceNanos = nowNanos;
    }
    if (nowNanos - sinceNanos >= settings.intervalNanos()) {
      probing = true;
      sinceNanos = nowNanos;
      probe.reset();
      dropped = 0;
    }
  }

  private void probe(Sample sample, Recalibration settings) {
    long now = sample.arrivedNanos();
    if (sample.dropped()) {
      dropped++;
    } else if (sample.rttNanos() > 0 && sample.inFlight() <= settings.probeLimit()) {
      probe.add(sample.rttNanos());
    }
    if (probe.count() >= settings.samples()) {
      recent = new MaxWindow(samples);
      // Medians are compared with a median.
      with(window == null ? probe.min() : (long) probe.quantile(0.5));
      restore(now);
    } else if (dropped >= settings.samples() || hasTimedOut(now, settings)) {
      restore(now); // abandoned: the old minimum stays
    }
  }

  private void restore(long nowNanos) {
    probing = false;
    sinceNanos = nowNanos;
    if (window != null) {
      window.next(nowNanos); // the restored limit starts with an empty window
    }
  }
}
