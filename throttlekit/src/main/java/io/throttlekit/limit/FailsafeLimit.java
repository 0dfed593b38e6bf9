package io.throttlekit.limit;

import io.throttlekit.limit.stats.CorrelationWindow;
import io.throttlekit.limit.stats.MaxWindow;
import io.throttlekit.limit.stats.MovingAverage;
import io.throttlekit.limit.stats.MovingMedian;

/**
 * Compares a high quantile of recent latency with a longer average of it, and correlates throughput
 * with the requests in flight, as failsafe-go's adaptive limiter does. Once per window:
 *
 * <pre>
 * recent = average of 5 (median of 5 (quantile));  baseline = average of {@code age} (recent)
 * queue = ⌈L · (1 − baseline / recent)⌉;  k = max(1, ⌊log10 L⌋)
 * queue &gt; 6k: L −= k
 * all in use, and throughput falls with what is in flight, or hardly rises or stands while latency
 *   rises with it: L −= k
 * queue &lt; 3k: L += k
 * L ≤ headroom (most in flight)
 * </pre>
 *
 * <p>The baseline follows every lasting latency: under lasting overload this algorithm takes the
 * queue for the backend's own latency and rises to the greatest limit. {@link ProbedVegasLimit}
 * does not.
 *
 * <p>It differs from failsafe-go in four ways. When more than 5 % of the requests of a window were
 * dropped, the limit falls by a tenth and latency is ignored (failsafe-go does not change the limit
 * if all are dropped). A limit that refused requests in the window counts as in use. Latencies of 0
 * are not measurements. With more than 64 latencies per window, quantiles have an error of up to
 * 1/64.
 */
public final class FailsafeLimit implements ConcurrencyLimit {
  /** Windows before averages are exponential and correlations count, as in failsafe-go. */
  private static final int WARM_UP = 10;

  private static final int SMOOTHED = 5; // windows, as in failsafe-go

  private final LimitRange range;
  private final Settings settings;
  private final SampleWindow window;
  private final MovingMedian median = new MovingMedian(SMOOTHED);
  final MovingAverage smoothed = new MovingAverage(SMOOTHED, WARM_UP);
  final MovingAverage baseline;
  private final CorrelationWindow throughput;
  private final CorrelationWindow latency;
  private final MaxWindow maxInFlight;
  double estimate;
  private volatile int published;

  /**
   * The settings of a {@link FailsafeLimit}.
   *
   * @param recent when the limit changes
   * @param quantile of the latencies of a window, above 0, below 1
   * @param baselineAge number of windows that the baseline averages, from 1
   * @param correlated number of windows in which throughput is correlated with the requests in
   *     flight, from 1
   * @param headroom how far the limit may exceed the requests in flight
   * @param stabilizationNanos how long the most in flight is remembered for the headroom, from 0
   */
  public record Settings(
      WindowSettings recent,
      double quantile,
      int baselineAge,
      int correlated,
      Headroom headroom,
      long stabilizationNanos) {

    /**
     * @throws IllegalArgumentException when a number is out of range
     */
    public Settings {
      if (!(quantile > 0 && quantile < 1)
          || baselineAge < 1
          || correlated < 1
          || stabilizationNanos < 0) {
        throw new IllegalArgumentException(
            "quantile must be above 0 and below 1, baselineAge and correlated at least 1, and"
                + " stabilizationNanos not negative, were %s, %s, %s and %s"
                    .formatted(quantile, baselineAge, correlated, stabilizationNanos));
      }
    }

    /**
     * Returns windows from 1 s, p90, a baseline of 10 windows, a correlation over 50 windows, 5
     * times the requests in flight, no stabilization.
     */
    public static Settings defaults() {
      return new Settings(WindowSettings.defaults(), 0.9, 10, 50, Headroom.times(5), 0);
    }
  }

  /** Creates the algorithm at its initial limit. */
  public FailsafeLimit(LimitRange range, Settings settings) {
    this.range = range;
    this.settings = settings;
    this.window = new SampleWindow(settings.recent());
    this.baseline = new MovingAverage(settings.baselineAge(), WARM_UP);
    this.throughput = new CorrelationWindow(settings.correlated(), WARM_UP);
    this.latency = new CorrelationWindow(settings.correlated(), WARM_UP);
    this.maxInFlight = new MaxWindow(settings.stabilizationNanos());
    this.estimate = range.initial();
    this.published = range.initial();
  }

  @Override
  public int limit() {
    return published;
  }

  @Override
  public int max() {
    return range.max();
  }

  @Override
  public void learn(Sample sample) {
    window.add(sample);
    if (!window.ripe(sample.arrivedNanos())) {
      return;
    }
    if (window.overloaded()) {
      estimate = range.clamp(Log10.afterDrops(estimate));
    } else {
      move(sample.full() || window.refused() > 0, sample.arrivedNanos());
    }
    window.next(sample.arrivedNanos());
    published = (int) estimate;
  }

  @Override
  public void refused(long arrivedNanos, long requests) {
    window.refused(arrivedNanos, requests);
  }

  @Override
  public void onTick(long nowNanos) {
    window.at(nowNanos); // the first window starts with the first call
  }

  private void move(boolean full, long nowNanos) {
    int inFlight = window.maxInFlight();
    double recent = smoothed.add(median.add(window.quantile(settings.quantile())));
    double queue = Math.ceil(estimate * (1 - baseline.add(recent) / recent));
    CorrelationWindow.Reading thrpt = throughput.add(inFlight, inFlight / recent);
    CorrelationWindow.Reading rtt = latency.add(inFlight, recent);
    int k = Log10.of(estimate);
    double next = estimate;
    // failsafe-go's beta is 6 log10 and its alpha 3 log10 of the limit
    if (queue > 6.0 * k || (full && exhausted(thrpt, rtt))) {
      next -= k;
    } else if (queue < 3.0 * k) {
      next += k;
    }
    double bound = settings.headroom().limitFor((int) maxInFlight.add(inFlight, nowNanos));
    double top = bound >= 1 ? bound : 1; // NaN, too, becomes 1
    // An old limit above the bound falls in steps, a new one is cut.
    if (next > top) {
      next = estimate > top ? estimate - k : top;
    }
    estimate = range.clamp(next);
  }

  private static boolean exhausted(
      CorrelationWindow.Reading throughput, CorrelationWindow.Reading latency) {
    return throughput.correlation() < 0
        || (latency.correlation() > 0.5
            && (throughput.correlation() < 0.3 || throughput.yVariation() < 0.2));
  }
}
