package io.throttlekit.limit;

import io.throttlekit.limit.stats.LatencyQuantiles;
import io.throttlekit.limit.stats.MaxWindow;
import org.jspecify.annotations.Nullable;

/**
 * A limit that moves with the ratio of latency to the latency without load: the minimum of the last
 * latencies, optionally measured again at a lowered limit.
 */
abstract sealed class NoLoadLimit implements ConcurrencyLimit permits AimdLimit, Gradient2Limit {
  final LimitRange range;
  double estimate;

  /** The latency without load in ns, or 0 if none is known. */
  long noLoadNanos;

  private final @Nullable SampleWindow window;
  private final @Nullable Recalibration recalibration;
  private final int baseline;
  private final LatencyQuantiles probe = new LatencyQuantiles();
  private MaxWindow recent;
  private long count;
  private boolean timed;
  private long sinceNanos;
  private boolean probing;
  private int dropped;
  private volatile int limit;

  /**
   * Creates the algorithm at its initial limit.
   *
   * @param baseline number of latencies in the minimum, from 1
   * @param settings null for an algorithm that changes its limit with each request
   * @throws IllegalArgumentException when the recalibration would leave {@code range}
   */
  NoLoadLimit(
      LimitRange range,
      int baseline,
      @Nullable WindowSettings settings,
      @Nullable Recalibration recalibration) {
    if (recalibration != null
        && (recalibration.probeLimit() < range.min() || recalibration.probeLimit() > range.max())) {
      throw new IllegalArgumentException(
          "probeLimit must be from %s to %s as the limit, was %s"
              .formatted(range.min(), range.max(), recalibration.probeLimit()));
    }
    this.range = range;
    this.baseline = baseline;
    this.recent = new MaxWindow(baseline);
    this.window = settings == null ? null : new SampleWindow(settings);
    this.recalibration = recalibration;
    this.estimate = range.initial();
    this.limit = range.initial();
  }

  /** Moves the estimate after a request, or after the window that it completes. */
  abstract void move(Sample seen);

  /**
   * Returns the latency without load, this latency included.
   *
   * @param rttNanos of a request that was not dropped, from 1
   */
  final long noLoadWith(long rttNanos) {
    noLoadNanos = -recent.add(-rttNanos, ++count); // the minimum, as a maximum of negated values
    return noLoadNanos;
  }

  @Override
  public final int limit() {
    return limit;
  }

  @Override
  public final int max() {
    return range.max();
  }

  @Override
  public final void learn(Sample sample) {
    Sample seen = sampled(sample);
    // a sample that is neither dropped nor measured reveals nothing
    if (seen != null && (seen.dropped() || seen.rttNanos() > 0)) {
      move(seen);
    }
    publish();
  }

  @Override
  public final void onTick(long nowNanos) {
    if (probing && recalibration != null && isDue(nowNanos, recalibration)) {
      restore(nowNanos);
    }
    publish();
  }

  @Override
  public final boolean isProbing() {
    return probing;
  }

  private void publish() {
    limit =
        probing && recalibration != null
            ? Math.min((int) estimate, recalibration.probeLimit())
            : (int) estimate;
  }

  /**
   * Adds a request that has ended, and starts a measurement if one is due. Returns the sample that
   * may change the limit, or null within a window and during a measurement.
   */
  private @Nullable Sample sampled(Sample sample) {
    if (recalibration != null) {
      if (probing) {
        probe(sample, recalibration);
        return null;
      }
      probeIfDue(sample.arrivedNanos(), recalibration);
    }
    return window == null ? sample : window.endedBy(sample);
  }

  /** Returns whether a measurement is due, or one that has begun has timed out. */
  private boolean isDue(long nowNanos, Recalibration settings) {
    return nowNanos - sinceNanos >= settings.intervalNanos();
  }

  private void probeIfDue(long nowNanos, Recalibration settings) {
    if (!timed) { // the first interval starts with the first sample
      timed = true;
      sinceNanos = nowNanos;
    }
    if (isDue(nowNanos, settings)) {
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
      recent = new MaxWindow(baseline);
      // Medians are compared with a median.
      noLoadWith(window == null ? probe.min() : (long) probe.quantile(0.5));
      restore(now);
    } else if (dropped >= settings.samples() || isDue(now, settings)) {
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
