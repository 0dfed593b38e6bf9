package io.throttlekit.limit;

import java.util.function.DoubleUnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a small queue at the backend, inferred from latency as in TCP Vegas (Brakmo and Peterson,
 * 1995):
 *
 * <pre>
 * queue = ⌈limit · (1 − noLoad / rtt)⌉;  k = max(1, ⌊log10 limit⌋)
 * queue ≤ k: limit += 6k;  queue &lt; 3k: limit += k;  queue &gt; 6k: decrease;  else unchanged
 * </pre>
 *
 * <p>{@code noLoad} is the least latency since the last probe. A probe takes the next latency as
 * the new value, so that a backend that became slower is not taken for a queue for ever. Between
 * probes it is: a service that takes three times as long loses half of its throughput until the
 * next one. After Netflix's concurrency-limits, but a dropped request never becomes the baseline.
 */
public final class VegasLimit implements ConcurrencyLimit {
  private final LimitRange range;
  private final Settings settings;
  private final RandomGenerator random;
  private final @Nullable SampleWindow window;
  private double estimate;
  private long noLoadNanos;
  private long sinceProbe;
  private double probeJitter;
  private volatile int limit;

  /**
   * The settings of a {@link VegasLimit}.
   *
   * @param smoothing weight of a step, above 0, to 1
   * @param probeMultiplier a probe follows after 0.5 to 1 times {@code probeMultiplier · limit}
   *     steps, from 1
   * @param decrease maps the limit to a lower one under overload
   * @param window updates once per window, from its median; null to update with each request, which
   *     varying latencies mislead
   */
  public record Settings(
      double smoothing,
      int probeMultiplier,
      DoubleUnaryOperator decrease,
      @Nullable WindowSettings window) {

    /**
     * @throws IllegalArgumentException when a number is out of range
     */
    public Settings {
      if (!(smoothing > 0 && smoothing <= 1) || probeMultiplier < 1) {
        throw new IllegalArgumentException(
            "smoothing must be above 0 and at most 1, and probeMultiplier at least 1, were %s and %s"
                .formatted(smoothing, probeMultiplier));
      }
    }

    /** Returns full steps, a probe multiplier of 30, a decrease by k, and windows from 1 s. */
    public static Settings defaults() {
      return new Settings(1, 30, limit -> limit - Log10.of(limit), WindowSettings.defaults());
    }
  }

  /**
   * Creates the algorithm at its initial limit.
   *
   * @param random spreads the probes, so that the limits of a fleet do not fall together
   */
  public VegasLimit(LimitRange range, Settings settings, RandomGenerator random) {
    this.range = range;
    this.settings = settings;
    this.random = random;
    this.window = settings.window() == null ? null : new SampleWindow(settings.window());
    this.estimate = range.initial();
    this.probeJitter = random.nextDouble(0.5, 1);
    this.limit = range.initial();
  }

  @Override
  public int limit() {
    return limit;
  }

  @Override
  public int max() {
    return range.max();
  }

  @Override
  public void learn(Sample sample) {
    Sample seen = window == null ? sample : window.endedBy(sample);
    if (seen != null) {
      move(seen);
    }
    limit = (int) estimate;
  }

  private void move(Sample seen) {
    int step = Log10.of(estimate);
    if (seen.dropped()) {
      towards(settings.decrease().applyAsDouble(estimate));
      return;
    }
    if (seen.rttNanos() == 0) { // not measured
      return;
    }
    sinceProbe++;
    // A large limit needs longer to converge, so its probes are rarer.
    if (probeJitter * settings.probeMultiplier() * estimate <= sinceProbe) {
      probeJitter = random.nextDouble(0.5, 1);
      sinceProbe = 0;
      noLoadNanos = seen.rttNanos();
      return;
    }
    if (noLoadNanos == 0 || seen.rttNanos() < noLoadNanos) {
      noLoadNanos = seen.rttNanos();
      return;
    }
    // Less than half of the limit was in use: latency reveals nothing about it.
    if (2.0 * seen.inFlight() < estimate) {
      return;
    }
    double queue = Math.ceil(estimate * (1 - (double) noLoadNanos / seen.rttNanos()));
    if (queue <= step) {
      towards(estimate + 6.0 * step);
    } else if (queue < 3 * step) {
      towards(estimate + step);
    } else if (queue > 6 * step) {
      towards(settings.decrease().applyAsDouble(estimate));
    }
  }

  private void towards(double target) {
    double next = estimate + settings.smoothing() * (range.clamp(target) - estimate);
    estimate = Double.isNaN(next) ? estimate : next; // the caller's decrease may return NaN
  }
}
