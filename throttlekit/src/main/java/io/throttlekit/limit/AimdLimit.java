package io.throttlekit.limit;

import org.jspecify.annotations.Nullable;

/**
 * Adds one while the limit is in use, and takes a share away for each request that was dropped or
 * too slow: additive increase, multiplicative decrease, as in TCP's congestion avoidance (Chiu and
 * Jain, 1989). Too slow is a fixed timeout, or a multiple of the latency without load.
 */
public final class AimdLimit implements ConcurrencyLimit {
  private final LimitRange range;
  private final double backoff;
  private final double tolerance;
  private final long timeoutNanos;
  private final NoLoadLatency noLoad;
  private int estimate;
  private volatile int limit;

  /** The latency from which a request counts as dropped. */
  public sealed interface TooLong {

    /**
     * A fixed timeout.
     *
     * @param nanos from 1
     */
    record Timeout(long nanos) implements TooLong {

      /**
       * @throws IllegalArgumentException when {@code nanos} is below 1
       */
      public Timeout {
        if (nanos < 1) {
          throw new IllegalArgumentException("timeoutNanos must be at least 1, was " + nanos);
        }
      }
    }

    /**
     * A multiple of the latency without load.
     *
     * @param factor from 1
     * @param baseline number of latencies whose minimum is the latency without load, from 1
     * @param recalibration null to use the least latency seen, without measurements
     */
    record TimesNoLoad(double factor, int baseline, @Nullable Recalibration recalibration)
        implements TooLong {

      /**
       * @throws IllegalArgumentException when a number is out of range
       */
      public TimesNoLoad {
        if (!(factor >= 1 && factor <= Double.MAX_VALUE) || baseline < 1) {
          throw new IllegalArgumentException(
              "factor and baseline must be at least 1, were " + factor + " and " + baseline);
        }
      }
    }
  }

  /**
   * Creates the algorithm at its initial limit, with a fixed timeout.
   *
   * @param backoff factor of a decrease, from 0.5, below 1
   * @param timeoutNanos latency above which a request counts as dropped, from 1
   * @throws IllegalArgumentException when a number is out of range
   */
  public AimdLimit(LimitRange range, double backoff, long timeoutNanos) {
    this(range, backoff, new TooLong.Timeout(timeoutNanos), null);
  }

  /**
   * Creates the algorithm at its initial limit.
   *
   * @param backoff factor of a decrease, from 0.5, below 1
   * @param settings updates once per window, from its median; null to update with each request,
   *     which varying latencies mislead
   * @throws IllegalArgumentException when a number is out of range
   */
  public AimdLimit(
      LimitRange range, double backoff, TooLong tooLong, @Nullable WindowSettings settings) {
    if (!(backoff >= 0.5 && backoff < 1)) {
      throw new IllegalArgumentException("backoff must be from 0.5 and below 1, was " + backoff);
    }
    this.range = range;
    this.backoff = backoff;
    switch (tooLong) {
      case TooLong.Timeout(long nanos) -> {
        this.timeoutNanos = nanos;
        this.tolerance = 0;
        this.noLoad = new NoLoadLatency(range, 1, settings, null); // its minimum is not used
      }
      case TooLong.TimesNoLoad(double factor, int baseline, Recalibration recalibration) -> {
        this.timeoutNanos = Long.MAX_VALUE;
        this.tolerance = factor;
        this.noLoad = new NoLoadLatency(range, baseline, settings, recalibration);
      }
    }
    this.estimate = range.initial();
    this.limit = range.initial();
  }

  @Override
  public int limit() {
    return limit;
  }

  @Override
  public void learn(Sample sample) {
    Sample seen = noLoad.learn(sample);
    if (seen != null) {
      move(seen);
    }
    limit = noLoad.lowered(estimate);
  }

  @Override
  public void onTick(long nowNanos) {
    noLoad.onTick(nowNanos);
    limit = noLoad.lowered(estimate);
  }

  @Override
  public boolean isProbing() {
    return noLoad.probing();
  }

  private void move(Sample seen) {
    if (!seen.dropped() && seen.rttNanos() == 0) { // not measured
      return;
    }
    if (seen.dropped() || tookTooLong(seen.rttNanos())) {
      estimate = (int) range.clamp(Math.floor(estimate * backoff));
    } else if (2.0 * seen.inFlight() >= estimate) { // a limit less than half used does not grow
      estimate = (int) range.clamp(estimate + 1.0);
    }
  }

  private boolean tookTooLong(long rttNanos) {
    return tolerance == 0 ? rttNanos > timeoutNanos : rttNanos > tolerance * noLoad.with(rttNanos);
  }
}
