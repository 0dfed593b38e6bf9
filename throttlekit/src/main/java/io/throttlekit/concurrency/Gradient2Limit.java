package io.throttlekit.concurrency;

import org.jspecify.annotations.Nullable;

/**
 * Moves the ceiling by how much longer requests take than they would alone, and leaves room for a
 * small queue:
 *
 * <pre>
 * gradient = clamp(tolerance · noLoad / rtt, ½, 1);  ½ when requests were given up
 * ceiling += smoothing · (ceiling · gradient + √ceiling − ceiling)
 * </pre>
 *
 * <p>{@code noLoad} is the least of the latest latencies. The room of √ceiling makes small ceilings
 * grow fast and large ones stand still; by it the ceiling never falls below 4 of its own accord. A
 * request that began while less than half of the ceiling was in flight moves nothing, up or down.
 * After Netflix's concurrency-limits, whose baseline is a mean and whose room is constant.
 */
public final class Gradient2Limit implements ConcurrencyLimit {
  private final CeilingRange range;
  private final Settings settings;
  private final NoLoadLatency noLoad;
  private final @Nullable SampleWindow window;
  private double estimate;
  private volatile int ceiling;

  /**
   * How a {@link Gradient2Limit} judges.
   *
   * @param tolerance how many times the latency without load is still no queue, from 1
   * @param smoothing what a step counts, above 0, to 1
   * @param baseline how many latencies are looked back at for the least, from 1
   * @param window learns once per window, from its median; null to learn from each request alone,
   *     which latencies that vary mislead
   * @param recalibration null to believe the least latency that was seen
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
                + " 1, were "
                + tolerance
                + ", "
                + smoothing
                + " and "
                + baseline);
      }
    }

    /** Twice the latency without load, a fifth of each step, 100 windows, no recalibration. */
    public static Settings defaults() {
      return new Settings(2, 0.2, 100, WindowSettings.defaults(), null);
    }
  }

  /**
   * A law at its initial ceiling.
   *
   * @throws IllegalArgumentException when the recalibration would leave {@code range}
   */
  public Gradient2Limit(CeilingRange range, Settings settings) {
    this.range = range;
    this.settings = settings;
    this.noLoad =
        new NoLoadLatency(
            range, settings.baseline(), settings.window() != null, settings.recalibration());
    this.window = settings.window() == null ? null : new SampleWindow(settings.window());
    this.estimate = range.initial();
    this.ceiling = range.initial();
  }

  @Override
  public int ceiling() {
    return ceiling;
  }

  @Override
  public void learn(Sample sample) {
    if (noLoad.probing()) {
      noLoad.probe(sample);
      if (window != null && !noLoad.probing()) {
        window.next(sample.arrivedNanos());
      }
    } else {
      Sample seen = window == null ? sample : window.endedBy(sample);
      if (seen != null) {
        move(seen);
      }
      noLoad.probeIfDue(sample.arrivedNanos());
    }
    ceiling = noLoad.lowered((int) estimate);
  }

  @Override
  public void refused(long arrivedNanos, long requests) {}

  @Override
  public void inForce(int requests, long sinceNanos) {}

  /** The ceiling before it is rounded down, and lowered for a measurement. */
  double estimate() {
    return estimate;
  }

  /** The latency without load, or 0 where none is known. */
  long noLoadNanos() {
    return noLoad.nanos();
  }

  private void move(Sample seen) {
    double gradient = 0.5;
    if (!seen.dropped()) {
      if (seen.rttNanos() == 0) { // never measured; as a baseline it would make all else look slow
        return;
      }
      double alone = noLoad.with(seen.rttNanos());
      if (2.0 * seen.inFlight() < estimate) {
        return;
      }
      gradient = Math.clamp(settings.tolerance() * alone / seen.rttNanos(), 0.5, 1.0);
    }
    double target = estimate * gradient + Math.sqrt(estimate);
    estimate = range.clamp(estimate + settings.smoothing() * (target - estimate));
  }
}
