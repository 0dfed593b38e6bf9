package io.throttlekit.limit;

import io.throttlekit.limit.ProbedVegasState.Restoring;
import io.throttlekit.limit.ProbedVegasState.Steady;
import io.throttlekit.limit.Probing.Outcome;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a short queue at the backend, inferred from the mean latency and a baseline. The baseline
 * is frozen while there is a queue, and measured again by lowering the limit. Once per window:
 *
 * <pre>
 * more than 5 % dropped:  L −= max(k, L/10), and nothing else
 * r = mean latency without outliers;  u = that of requests that began with no more than the mean
 * in flight;  B = baseline
 * saturated:  r &lt; B: B += (r − B)/5;   else the same with u, and u &gt; B: B += (u − B)·2/61
 * O up by ≥ 1/4, r by &lt; 4/10 of that, both crowded:  B = max(B, the lower r)
 * X = O/r;  queue = max(0, ⌈⌊L⌋ − X·B⌉);  seen = ⌈O − X·B⌉;  k = max(1, ⌊log10 L⌋)
 * beta = max(4, min(6, L/3), L/10), up to 4 times that if slots are unused;  alpha = ⌈2·beta/3⌉
 * q = min(queue, seen) &gt; beta:  L −= max(k, s·(q − beta)), s = (r/B − 1)/4 within 0.35 and 1/2
 * queue &lt; alpha, and half of L was in use:  L += beta − queue if saturated;
 *     L = 1.5·L if crowded and queue ≤ L/20, or 2·L until the first decrease
 * unless full:  L does not fall below, and rises at once by half up to,
 *     min(max(2·M, 1.5·P), 3·N + 20)
 * L ≤ 5·M (reached in steps of k)
 * </pre>
 *
 * <p>O is the mean limit in effect when the requests of the window began. By Little's law X is the
 * throughput of a full limit, and X·B the requests in service. The queue of L is therefore known
 * before any request has ended that began below L, and late samples do not change the limit twice
 * for one cause. Once L has been unchanged for 5 s, only the acknowledged limit counts, because
 * some limiters may never acknowledge.
 *
 * <p>A window is saturated if the limit refused more than 0.5 % of its requests, crowded if it
 * refused more than 10 % of 50 or more, and full if it is crowded, or saturated as the one before,
 * or has fewer than 50 requests. M is the most in flight in the window, N their mean, P a peak in
 * which few were refused ({@link LimitUsage}). Latency noise therefore does not lower a limit that
 * refuses nothing. Without a count of the refused requests ({@link #refused}), a lasting queue is
 * taken for the backend's own latency in the end.
 *
 * <p>Where the latency of a full limit varies by itself from window to window ({@link
 * Variability}), a step is as small as a fifth of that, unless drops cause it: the backend changes
 * again before the limit takes effect.
 *
 * <p>A measurement starts in a saturated window without a decrease, one interval (a minute) after
 * the last one: two intervals if that confirmed the baseline within a tenth, ten if limiters did
 * not acknowledge it. It also starts when five decreases in a row, or three that took away 30 %
 * (both with fewer than 50 requests), did not reduce latency; once per interval at most where
 * latency varies by itself. The limit is lowered below X·B until the old queue has drained and
 * requests end, and further while that does not lower the throughput. The latency then replaces B,
 * down to half of it; less than a fifth below B, it counts half; after decreases it does not lower
 * B. Afterwards the limit returns to its old value, or to the new X·B plus beta if that is lower. A
 * measurement costs throughput for a few round trips a minute; it distinguishes a slower backend
 * from a longer queue.
 *
 * <p>After TCP Vegas (Brakmo and Peterson, 1995), the measurement of minRTT in Envoy's gradient
 * controller, and the Smith predictor for delayed responses (1957).
 */
public final class ProbedVegasLimit implements ConcurrencyLimit {
  /** The share of the requests in service that the first step of a measurement admits. */
  private static final double IDLE = 0.8;

  /** The least first step of a measurement, as a share of the limit in use. */
  private static final double MIN_STEP = 0.4;

  /** The greatest one. */
  private static final double MAX_STEP = 0.7;

  /**
   * Intervals after a measurement that some limiters did not acknowledge: the others would bear it
   * alone.
   */
  private static final int INTERVALS_AFTER_IGNORED = 10;

  /** Intervals after a measurement that confirmed the baseline. */
  private static final int INTERVALS_AFTER_CONFIRMED = 2;

  private static final double JITTER = 0.15; // as in Envoy's gradient controller

  private final LimitRange range;
  private final Settings settings;
  private final RandomGenerator random;
  private final SampleWindow window;
  private final LimitHistory history;
  private final LimitUsage usage = new LimitUsage();
  final Variability variability = new Variability();
  final Baseline baseline = new Baseline();
  private double estimate;
  private boolean slowStart = true;
  private ProbedVegasState state = new Steady();
  private volatile int published;

  /**
   * The settings of a {@link ProbedVegasLimit}.
   *
   * @param window when the limit changes
   * @param probeIntervalNanos interval between measurements of the baseline while requests are
   *     refused, from 1; twice as long after one that confirmed the baseline, ten times after one
   *     that was not acknowledged, plus up to 15 % at random; at least half an interval passes
   *     after the last window that was not saturated
   * @param minProbeSamples requests that make a measurement if their latencies are alike, from 1
   * @param maxProbeSamples the most requests that make one, from {@code minProbeSamples}; fewer if
   *     they take longer than 2 s
   * @param marginNanos time between an acknowledgement ({@link #acknowledged}) and the start of a
   *     measurement, from 0; covers the limiter's clock, the start time inferred from a late access
   *     log, and a queue that drains. Not used for a limiter that does not acknowledge and applies
   *     limits at once
   */
  public record Settings(
      WindowSettings window,
      long probeIntervalNanos,
      int minProbeSamples,
      int maxProbeSamples,
      long marginNanos) {
    /** Less than a second, because digests come a little earlier or later than every second. */
    private static final long FLEET_WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(990);

    /**
     * @throws IllegalArgumentException when a number is out of range
     */
    public Settings {
      if (probeIntervalNanos < 1
          || minProbeSamples < 1
          || maxProbeSamples < minProbeSamples
          || marginNanos < 0) {
        throw new IllegalArgumentException(
            ("a measurement needs 1 <= probeIntervalNanos, 1 <= minProbeSamples <= maxProbeSamples"
                    + " and 0 <= marginNanos, were %s, %s, %s and %s")
                .formatted(probeIntervalNanos, minProbeSamples, maxProbeSamples, marginNanos));
      }
    }

    /**
     * Returns windows from 1 s and 20 requests, a measurement of 30 to 400 requests each minute,
     * and a margin of 600 ms.
     */
    public static Settings defaults() {
      return new Settings(
          new WindowSettings(TimeUnit.SECONDS.toNanos(1), TimeUnit.SECONDS.toNanos(30), 20),
          TimeUnit.SECONDS.toNanos(60),
          30,
          400,
          TimeUnit.MILLISECONDS.toNanos(600));
    }

    /**
     * Returns the same for limiters that apply a limit before they acknowledge it, and report
     * samples in digests every second: without a margin, and with windows that such a digest
     * completes.
     */
    public Settings ofFleet() {
      WindowSettings digests =
          new WindowSettings(
              Math.min(window.minNanos(), FLEET_WINDOW_NANOS),
              window.maxNanos(),
              window.minSamples());
      return new Settings(digests, probeIntervalNanos, minProbeSamples, maxProbeSamples, 0);
    }
  }

  /**
   * Creates the algorithm at its initial limit.
   *
   * @param random spreads the measurements, so that the limits of a fleet do not fall together
   */
  public ProbedVegasLimit(LimitRange range, Settings settings, RandomGenerator random) {
    this.range = range;
    this.settings = settings;
    this.random = random;
    this.window = new SampleWindow(settings.window());
    this.history = new LimitHistory(range.initial());
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
    if (!sample.dropped() && sample.rttNanos() == 0) { // not measured
      return;
    }
    long now = sample.arrivedNanos();
    switch (state) {
      case Steady steady -> learn(steady, sample);
      case Probing probing -> endIfOver(probing, probing.learn(sample), now);
      case Restoring restoring when restoring.isOver(now) -> {
        state = restoring.next;
        learn(restoring.next, sample);
      }
      case Restoring restoring -> {
        if (!restoring.ignores(sample)) {
          learn(restoring.next, sample);
        }
      }
    }
    publish(now);
  }

  @Override
  public void refused(long arrivedNanos, long requests) {
    window.refused(arrivedNanos, requests);
    onTick(arrivedNanos);
  }

  @Override
  public void onTick(long nowNanos) {
    window.at(nowNanos);
    if (state instanceof Probing probing) {
      endIfOver(probing, probing.timedOut(nowNanos), nowNanos);
      publish(nowNanos);
    }
  }

  @Override
  public void acknowledged(int requests, long sinceNanos) {
    history.acknowledged(Math.max(1, requests), sinceNanos);
    boolean current = requests == (int) estimate;
    switch (state) {
      case Steady steady -> steady.acknowledged(current);
      case Probing probing -> probing.acknowledged(requests, sinceNanos);
      case Restoring restoring -> {
        restoring.next.acknowledged(current);
        restoring.acknowledged(estimate, history.latest(), sinceNanos);
      }
    }
  }

  /** By the thread that feeds samples. */
  @Override
  public long baselineNanos() {
    return (long) baseline.nanos();
  }

  @Override
  public void resume(long baselineNanos, long nowNanos) {
    if (baselineNanos > 0) {
      baseline.resume(baselineNanos);
      double wait = settings.probeIntervalNanos() * (1 + random.nextDouble(JITTER));
      state = new Steady(nowNanos + (long) wait, false);
    }
  }

  /** By the thread that feeds samples. */
  @Override
  public boolean isProbing() {
    return state instanceof Probing;
  }

  private void learn(Steady steady, Sample sample) {
    long now = sample.arrivedNanos();
    window.add(sample);
    baseline.add(sample);
    // Unacknowledged limits are recorded when samples arrive, so start times are derived from that.
    history.began(history.acknowledges() ? sample.startNanos() : now - sample.rttNanos());
    if (window.ripe(now)) {
      if (window.overloaded()) {
        slowStart = false;
        steady.ascent.forget();
        variability.skip();
        estimate = range.clamp(Log10.afterDrops(estimate));
      } else {
        step(steady, now);
      }
      nextWindow(now);
    }
  }

  private void step(Steady steady, long nowNanos) {
    boolean saturated = window.saturated();
    double latency = window.trimmedMean();
    double applied = history.mean();
    double throughput = applied / latency;
    usage.add(window, applied);
    baseline.follow(latency, saturated);
    if (usage.crowded()) {
      baseline.atLeast(steady.ascent.learn(applied, latency));
    } else {
      steady.ascent.forget();
    }
    boolean few = window.requests() < LimitUsage.MIN_REQUESTS;
    if (saturated && !few) {
      variability.add(applied, latency);
    } else {
      variability.skip();
    }
    double inService = throughput * baseline.nanos();
    double usable = history.usable((int) estimate, nowNanos);
    QueueStep.Load load = new QueueStep.Load(estimate, usable, applied, inService);
    QueueStep step = QueueStep.of(load, usage, slowStart);
    slowStart &= !step.decreased();
    estimate = range.clamp(variability.damped(estimate, step.limit()));
    steady.stepped(step, applied, latency);
    // Without refusals the baseline follows latency, and needs no measurement soon.
    if (!saturated) {
      steady.postponeProbe(nowNanos + settings.probeIntervalNanos() / 2);
    }
    // Throughput is inferred from latency, which lags while a queue drains.
    boolean due = saturated && !step.decreased() && steady.isProbeDue(nowNanos);
    boolean doubts = steady.doubts(applied, latency, few);
    if (due || (doubts && variability.mayDoubt(nowNanos, settings.probeIntervalNanos()))) {
      // Leaves servers idle if the baseline is right, and is not lower than needed.
      double inUse = Math.min(estimate, applied);
      int first = (int) Math.clamp(IDLE * inService, MIN_STEP * inUse, MAX_STEP * inUse);
      state =
          new Probing(first, range.min(), throughput, latency, !due, nowNanos, history, settings);
    }
  }

  private void endIfOver(Probing probing, @Nullable Outcome outcome, long nowNanos) {
    if (outcome == null) {
      return;
    }
    boolean confirmed =
        outcome instanceof Outcome.Measured(double nanos) && baseline.isConfirmedBy(nanos);
    switch (outcome) {
      // The doubt was that the baseline is too low: a shorter latency is chance.
      case Outcome.Measured(double nanos) when probing.isDoubt() && nanos < baseline.nanos() -> {}
      case Outcome.Measured(double nanos) -> apply(nanos, probing.initialThroughput());
      case Outcome.AtMost(double nanos) when nanos < baseline.nanos() ->
          apply(nanos, probing.initialThroughput());
      case Outcome.Overloaded _ -> estimate = range.clamp(Log10.afterDrops(probing.limit()));
      case Outcome.AtMost _, Outcome.Unknown _ -> {}
    }
    if (probing.isDoubt()) {
      variability.measuredDoubt(nowNanos);
    }
    boolean ignored = !probing.isAcknowledged();
    int intervals = ignored ? INTERVALS_AFTER_IGNORED : confirmed ? INTERVALS_AFTER_CONFIRMED : 1;
    double wait = settings.probeIntervalNanos() * (intervals * (1 + random.nextDouble(JITTER)));
    Steady steady = new Steady(nowNanos + (long) wait, ignored);
    if (history.acknowledges()) {
      Restoring restoring =
          new Restoring(steady, probing.limit(), nowNanos, settings.probeIntervalNanos() / 2);
      restoring.acknowledged(estimate, history.latest(), nowNanos);
      state = restoring;
    } else {
      state = steady;
    }
    history.restart();
    nextWindow(nowNanos);
  }

  private void apply(double measuredNanos, double throughput) {
    baseline.measure(measuredNanos);
    double inService = throughput * baseline.nanos();
    double most = inService + QueueStep.beta(inService, inService, usage);
    // The throughput before was that of one window, as in any other step.
    estimate = range.clamp(variability.damped(estimate, Math.min(estimate, most)));
  }

  private void nextWindow(long nowNanos) {
    if (window.requests() > 0) {
      baseline.next(window.meanInFlight());
    }
    window.next(nowNanos);
    history.next();
  }

  private void publish(long nowNanos) {
    published = state instanceof Probing probing ? probing.limit() : (int) estimate;
    history.applied(published, nowNanos);
  }
}
