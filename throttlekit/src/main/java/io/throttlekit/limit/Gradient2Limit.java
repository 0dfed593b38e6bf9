package io.throttlekit.limit;

import org.jspecify.annotations.Nullable;

/**
 * Changes the limit by the ratio of the latency without load to the current one, and leaves room
 * for a small queue:
 *
 * <pre>
 * gradient = clamp(tolerance · noLoad / rtt, ½, 1);  ½ for dropped requests
 * limit += smoothing · (limit · gradient + √limit − limit)
 * </pre>
 *
 * <p>{@code noLoad} is the least of the recent latencies. The queue of √limit lets small limits
 * grow fast and keeps large ones stable; because of it the limit never falls below 4 unless the
 * range does. A request that began while less than half of the limit was in flight changes nothing.
 * After Netflix's concurrency-limits, whose baseline is a mean and whose queue size is constant.
 */
public final class Gradient2Limit extends NoLoadLimit {
  private final Settings settings;

  /**
   * The settings of a {@link Gradient2Limit}.
   *
   * @param tolerance multiple of the latency without load that does not count as a queue, from 1
   * @param smoothing weight of a step, above 0, to 1
   * @param baseline number of latencies whose minimum is the latency without load, from 1
   * @param window updates once per window, from its median; null to update with each request, which
   *     varying latencies mislead
   * @param recalibration null to use the least latency seen, without measurements
   */
  public record Settings(
      double tolerance,
      double smoothing,
      int baseline,
      @Nullable WindowSettings window,
      @Nullable Recalibration recalibration) {

    /**
     * @throws IllegalArgumentException when a number is out of range
     */
    public Settings {
      if (!(tolerance >= 1 && tolerance <= Double.MAX_VALUE)
          || !(smoothing > 0 && smoothing <= 1)
          || baseline < 1) {
        throw new IllegalArgumentException(
            "tolerance must be at least 1, smoothing above 0 and at most 1, and baseline at least"
                + " 1, were %s, %s and %s".formatted(tolerance, smoothing, baseline));
      }
    }

    /**
     * Returns a tolerance of 2, a smoothing of 0.2, a baseline of 100 windows, no recalibration.
     */
    public static Settings defaults() {
      return new Settings(2, 0.2, 100, WindowSettings.defaults(), null);
    }

    /** Returns these settings with other measurements; null for none. */
    public Settings with(@Nullable Recalibration other) {
      return new Settings(tolerance, smoothing, baseline, window, other);
    }
  }

  /**
   * Creates the algorithm at its initial limit.
   *
   * @throws IllegalArgumentException when the recalibration would leave {@code range}
   */
  public Gradient2Limit(LimitRange range, Settings settings) {
    super(range, settings.baseline(), settings.window(), settings.recalibration());
    this.settings = settings;
  }

  @Override
  void move(Sample seen) {
    double gradient = 0.5; // as in concurrency-limits: a single window at most halves the target
    if (!seen.dropped()) {
      double alone = noLoadWith(seen.rttNanos());
      // Less than half of the limit was in use: latency reveals nothing about it.
      if (2.0 * seen.inFlight() < estimate) {
        return;
      }
      gradient = Math.clamp(settings.tolerance() * alone / seen.rttNanos(), 0.5, 1.0);
    }
    // The gradient is at most 1: only the queue of √limit lets the limit grow.
    double target = estimate * gradient + Math.sqrt(estimate);
    estimate = range.clamp(estimate + settings.smoothing() * (target - estimate));
  }
}
