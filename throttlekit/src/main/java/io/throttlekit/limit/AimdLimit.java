package io.throttlekit.limit;

import org.jspecify.annotations.Nullable;

/**
 * Adds one while the limit is in use, and takes a share away for each request that was dropped or
 * too slow: additive increase, multiplicative decrease, as in TCP's congestion avoidance (Chiu and
 * Jain, 1989). Too slow is a multiple of the latency without load.
 */
public final class AimdLimit extends NoLoadLimit {
  private final Settings settings;

  /**
   * The settings of an {@link AimdLimit}.
   *
   * @param backoff factor of a decrease, from 0.5, below 1
   * @param tolerance multiple of the latency without load from which a request counts as dropped,
   *     from 1
   * @param baseline number of latencies whose minimum is the latency without load, from 1
   * @param window updates once per window, from its median; null to update with each request, which
   *     varying latencies mislead
   * @param recalibration null to use the least latency seen, without measurements
   */
  public record Settings(
      double backoff,
      double tolerance,
      int baseline,
      @Nullable WindowSettings window,
      @Nullable Recalibration recalibration) {

    /**
     * @throws IllegalArgumentException when a number is out of range
     */
    public Settings {
      // Written as a negation, so that NaN is refused.
      if (!(backoff >= 0.5 && backoff < 1)
          || !(tolerance >= 1 && tolerance <= Double.MAX_VALUE)
          || baseline < 1) {
        throw new IllegalArgumentException(
            ("backoff must be from 0.5 and below 1, tolerance and baseline at least 1,"
                    + " were %s, %s and %s")
                .formatted(backoff, tolerance, baseline));
      }
    }

    /**
     * Returns a backoff of 0.9 as in concurrency-limits, a tolerance of 2, a baseline of 100
     * windows, no recalibration.
     */
    public static Settings defaults() {
      return new Settings(0.9, 2, 100, WindowSettings.defaults(), null);
    }

    /** Returns these settings with other measurements; null for none. */
    public Settings with(@Nullable Recalibration other) {
      return new Settings(backoff, tolerance, baseline, window, other);
    }
  }

  /**
   * Creates the algorithm at its initial limit.
   *
   * @throws IllegalArgumentException when the recalibration would leave {@code range}
   */
  public AimdLimit(LimitRange range, Settings settings) {
    super(range, settings.baseline(), settings.window(), settings.recalibration());
    this.settings = settings;
  }

  @Override
  void move(Sample seen) {
    if (seen.dropped() || seen.rttNanos() > settings.tolerance() * noLoadWith(seen.rttNanos())) {
      estimate = range.clamp(Math.floor(estimate * settings.backoff()));
    } else if (2.0 * seen.inFlight() >= estimate) { // a limit less than half used does not grow
      estimate = range.clamp(estimate + 1);
    }
  }
}
