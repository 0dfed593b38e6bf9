package io.throttlekit.concurrency;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a queue of about a tenth of the limit at the backend, inferred from the median latency and
 * a baseline. The baseline is frozen while there is a queue, and measured again by lowering the
 * limit. Once per window:
 *
 * <pre>
 * more than 5 % dropped:  L −= max(k, L/10), and nothing else
 * r = median;  B = baseline:  r &lt; B: B += (r − B)/5;  else unless saturated: B += (r − B)·2/61
 * O up by ≥ 1/4, r by &lt; 4/10 of that, both crowded:  B = max(B, the lower r)
 * X = O/r;  queue = max(0, ⌈⌊L⌋ − X·B⌉);  seen = ⌈O − X·B⌉;  k = max(1, ⌊log10 L⌋)
 * beta = max(3, min(6, L/3), L/10);  alpha = ⌈2·beta/3⌉
 * q = min(queue, seen) &gt; beta:                L −= max(k, (q − beta)/4)
 * queue &lt; alpha, and half of L was in use:    L += beta − queue
 * L ≤ 5 · most in flight (reached in steps of k)
 * </pre>
 *
 * <p>O is the mean limit in effect when the requests of the window began. By Little's law X is the
 * throughput of a full limit, and X·B the requests in service. The queue of L is therefore known
 * before any request has ended that began below L, and late samples do not change the limit twice
 * for one cause. Once L has been unchanged for 5 s, only the acknowledged limit counts, because
 * some limiters may never acknowledge.
 *
 * <p>A window is saturated if the limit refused more than 0.5 % of its requests, crowded if it
 * refused more than 10 %. Without a count of the refused requests ({@link #refused}), a lasting
 * queue is taken for the backend's own latency in the end.
 *
 * <p>A measurement starts in a saturated window one interval (a minute) after the last one: two
 * intervals if that confirmed the baseline within a tenth, ten if limiters did not acknowledge it.
 * It also starts when five decreases in a row did not reduce latency. The limit is lowered below
 * X·B until the old queue has drained and requests end, and further while that does not lower the
 * throughput. The median latency then replaces B, down to half of it; less than a fifth below B, it
 * counts half. Afterwards the limit returns to its old value, or to the new X·B plus beta if that
 * is lower. A measurement costs throughput for a few round trips a minute; it distinguishes a
 * slower backend from a longer queue.
 *
 * <p>After TCP Vegas (Brakmo and Peterson, 1995), the measurement of minRTT in Envoy's gradient
 * controller, and the Smith predictor for delayed responses (1957).
 */
public final class ProbedVegasLimit implements ConcurrencyLimit {
  /** Decreases in a row without effect after which the baseline is measured again. */
  private static final int DOUBTED = 5;

  /** The relative decrease of the limit from which latency shows whether it helps. */
  private static final double NOTICEABLE = 0.1;

  /** The share of a decrease that latency must follow for it to have helped. */
  private static final double FOLLOWS = 0.5;

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
  private static final int IN_VAIN = 10;

  /**
   * A limit that is not acknowledged within this time never will be; access logs may be as late.
   */
  private static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** The limit is at most so many times the most in flight: an unused limit is unproven. */
  private static final int MAX_OF_IN_FLIGHT = 5;

  private final LimitRange range;
  private final Settings settings;
  private final RandomGenerator random;
  private final SampleWindow window;
  private final LimitHistory obeyed;
  private final Baseline baseline = new Baseline();
  private final Ascent ascent = new Ascent();
  private double limit;
  private int decreases;
  private double decreasedFrom;
  private double decreasedAt;
  private double throughput;
  private boolean probeSet;
  private long probeNanos;
  private boolean confirmed;
  private boolean told;
  private boolean measured;
  private boolean restoring;
  private int measuredBelow;
  private boolean unobeyed;
  private int shown;
  private long shownNanos;
  private double usable = 1;
  private long measuredNanos;
  private long restoredNanos;
  private @Nullable Descent descent;
  private volatile int published;

  /**
   * The settings of a {@link ProbedVegasLimit}.
   *
   * @param window when the limit changes
   * @param probeIntervalNanos interval between measurements of the baseline while requests are
   *     refused, from 1; twice as long after one that confirmed the baseline, ten times after one
   *     that was not acknowledged, plus up to 15 % at random; at least half an interval passes
   *     after the last window that was not saturated
   * @param probeSamples requests that make a measurement, from 1
   * @param marginNanos time between an acknowledgement ({@link #inForce}) and the start of a
   *     measurement, from 0; covers the limiter's clock, the start time inferred from a late access
   *     log, and a queue that drains. Not used for a limiter that does not acknowledge and applies
   *     limits at once
   */
  public record Settings(
      WindowSettings window, long probeIntervalNanos, int probeSamples, long marginNanos) {

    /**
     * @throws IllegalArgumentException when a number is out of range
     */
    public Settings {
      if (probeIntervalNanos < 1 || probeSamples < 1 || marginNanos < 0) {
        throw new IllegalArgumentException(
            "probeIntervalNanos and probeSamples must be at least 1, and marginNanos not"
                + " negative, were "
                + probeIntervalNanos
                + ", "
                + probeSamples
                + " and "
                + marginNanos);
      }
    }

    /** Returns windows from 1 s, a measurement of 100 requests each minute, a margin of 600 ms. */
    public static Settings defaults() {
      return new Settings(
          WindowSettings.defaults(),
          TimeUnit.SECONDS.toNanos(60),
          100,
          TimeUnit.MILLISECONDS.toNanos(600));
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
    this.obeyed = new LimitHistory(range.initial());
    this.limit = range.initial();
    this.published = range.initial();
  }

  @Override
  public int limit() {
    return published;
  }

  @Override
  public void learn(Sample sample) {
    if (!sample.dropped() && sample.rttNanos() == 0) { // not measured
      return;
    }
    if (descent != null) {
      descend(descent, sample);
    } else if (!letInByLowered(sample)) {
      window.add(sample);
      obeyed.began(told ? sample.startNanos() : sample.arrivedNanos() - sample.rttNanos());
      if (window.ripe(sample.arrivedNanos())) {
        move(sample.arrivedNanos());
        next(sample.arrivedNanos());
      }
    }
    show(sample.arrivedNanos());
  }

  @Override
  public void refused(long arrivedNanos, long requests) {
    window.refused(arrivedNanos, requests);
    if (descent != null && descent.isOver(arrivedNanos)) { // no sample may ever end the measurement
      endDescent(descent, descent.givenUp(), arrivedNanos);
      show(arrivedNanos);
    }
  }

  @Override
  public void inForce(int requests, long sinceNanos) {
    told = true;
    obeyed.obeyed(Math.max(1, requests), sinceNanos);
    if (descent != null) {
      descent.inForce(requests, sinceNanos);
    } else {
      // Acknowledged after all: the next measurement need not wait ten intervals.
      unobeyed &= requests != (int) limit;
      if (restoring && isBack()) {
        restoring = false;
        restoredNanos = sinceNanos;
      }
    }
  }

  /** Returns whether limiters have restored at least half of the decrease of a measurement. */
  private boolean isBack() {
    int back = Math.min((int) limit, (measuredBelow + (int) limit) / 2);
    return limit <= measuredBelow || obeyed.latest() >= back;
  }

  /** Returns the latency without a queue, in ns, or 0 if it is not known. */
  double baselineNanos() {
    return baseline.nanos();
  }

  /**
   * Returns whether the limit is lowered to measure the baseline. By the thread that feeds samples.
   */
  public boolean measuring() {
    return descent != null;
  }

  /**
   * Returns whether a request that ended after a measurement began during it. Such a request met no
   * queue, and would raise the limit by the room that the measurement itself made. A limiter that
   * does not acknowledge applies the old limit again at once.
   */
  private boolean letInByLowered(Sample sample) {
    if (!measured) {
      return false;
    }
    if (sample.arrivedNanos() - measuredNanos >= settings.probeIntervalNanos() / 2) {
      measured = false; // a fallback, whatever acknowledgements and start times are
      restoring = false;
      return false;
    }
    return restoring || sample.startNanos() - restoredNanos < 0;
  }

  private void move(long nowNanos) {
    if (window.overloaded()) {
      ascent.forget();
      giveWay(limit);
      return;
    }
    boolean saturated = window.saturated();
    double median = window.quantile(0.5);
    throughput = obeyed.mean() / median;
    baseline.follow(median, saturated);
    if (window.crowded()) {
      baseline.atLeast(ascent.learn(obeyed.mean(), median));
    } else {
      ascent.forget();
    }
    step(median, nowNanos);
    // Without refusals the baseline follows latency, and needs no measurement soon.
    if (!saturated) {
      long calm = nowNanos + settings.probeIntervalNanos() / 2;
      if (!probeSet || calm - probeNanos > 0) {
        probeSet = true;
        probeNanos = calm;
      }
    }
    // While limiters do not acknowledge, a lower limit cannot reduce latency.
    boolean doubted = doubted(median) && !unobeyed;
    boolean due = doubted || (saturated && (!probeSet || nowNanos - probeNanos >= 0));
    restoring &= !isBack();
    if (due && !restoring) { // a limiter that lags would not apply a lower one either
      descent = new Descent(firstStep(), range.min(), throughput, median, nowNanos, told, settings);
      lookWhatIsObeyed(descent, nowNanos);
    }
  }

  /** Returns whether latency does not follow the limit down; then it is probably not a queue. */
  private boolean doubted(double median) {
    if (decreases < DOUBTED) {
      return false;
    }
    double lowered = 1 - obeyed.mean() / decreasedFrom;
    if (lowered < NOTICEABLE) {
      return false; // the decrease is not in effect yet, so it cannot have helped
    }
    if (decreasedAt - median < FOLLOWS * lowered * decreasedAt) {
      return true;
    }
    decreases = 0;
    return false;
  }

  private void step(double median, long nowNanos) {
    int k = Log10.of(limit);
    double old = limit;
    double work = throughput * baseline.nanos();
    double queue = Math.max(0, Math.ceil(letIn(nowNanos) - work));
    double tooMany = Math.min(queue, Math.ceil(obeyed.mean() - work));
    int beta = beta(limit);
    int alpha = (2 * beta + 2) / 3;
    if (tooMany > beta) {
      if (decreases == 0) {
        decreasedFrom = obeyed.mean();
        decreasedAt = median;
      }
      limit -= Math.max(k, (tooMany - beta) / 4);
      decreases++;
    } else {
      decreases = 0;
      // A limit that is less than half used is not raised.
      boolean inUse = 2.0 * window.maxInFlight() >= limit && 2 * obeyed.mean() >= limit;
      if (queue < alpha && inUse) {
        limit += beta - queue;
      }
    }
    double top = (double) MAX_OF_IN_FLIGHT * window.maxInFlight();
    if (limit > top) {
      // Idle moments are short: an old limit above the bound falls in small steps.
      limit = old > top ? Math.max(old - k, top) : top;
    }
    limit = range.clamp(limit);
  }

  /**
   * Returns the part of a full limit that limiters apply, now or soon. Some may never acknowledge,
   * and their slots remain unused.
   */
  private double letIn(long nowNanos) {
    if (shown != (int) limit) {
      shown = (int) limit;
      shownNanos = nowNanos;
    }
    boolean rested = told && nowNanos - shownNanos >= SOON_NANOS;
    double part = Math.min(1, obeyed.mean() / shown);
    usable = rested ? part : Math.max(usable, part);
    return rested ? obeyed.mean() : shown * usable;
  }

  /**
   * Returns a limit that leaves servers idle if the baseline is right, and is not lower than
   * needed.
   */
  private int firstStep() {
    double idle = IDLE * throughput * baseline.nanos();
    double inUse = Math.min(limit, obeyed.mean());
    return (int) Math.clamp(idle, MIN_STEP * inUse, MAX_STEP * inUse);
  }

  private void descend(Descent under, Sample sample) {
    Descent.Outcome outcome = under.learn(sample, told);
    if (outcome instanceof Descent.Outcome.Continues) {
      lookWhatIsObeyed(under, sample.arrivedNanos());
    } else {
      endDescent(under, outcome, sample.arrivedNanos());
    }
  }

  private void measured(double nanos) {
    baseline.measure(nanos);
    double work = throughput * baseline.nanos();
    limit = range.clamp(Math.min(limit, work + beta(work)));
  }

  /** Passes on a limit that is low enough already, since limiters do not acknowledge it again. */
  private void lookWhatIsObeyed(Descent under, long nowNanos) {
    if (told) {
      under.inForce(obeyed.latest(), nowNanos);
    }
  }

  private void endDescent(Descent ended, Descent.Outcome outcome, long nowNanos) {
    switch (outcome) {
      case Descent.Outcome.Measured(double nanos) -> {
        confirmed = baseline.isConfirmedBy(nanos);
        measured(nanos);
      }
      case Descent.Outcome.AtMost(double nanos) when nanos < baseline.nanos() -> measured(nanos);
      case Descent.Outcome.Overloaded(int lowered) -> giveWay(lowered);
      case Descent.Outcome.AtMost _, Descent.Outcome.Unknown _, Descent.Outcome.Continues _ -> {}
    }
    descent = null;
    ascent.forget();
    decreases = 0;
    measured = told;
    measuredBelow = ended.limit();
    restoring = told && !isBack();
    shown = 0; // restarts the 5 s
    unobeyed = !ended.isObeyed();
    measuredNanos = nowNanos;
    restoredNanos = nowNanos;
    next(nowNanos);
    double intervals = (unobeyed ? IN_VAIN : confirmed ? 2 : 1) * (1 + random.nextDouble(0.15));
    confirmed = false;
    probeSet = true;
    probeNanos = nowNanos + (long) (settings.probeIntervalNanos() * intervals);
  }

  private void next(long nowNanos) {
    window.next(nowNanos);
    obeyed.next();
  }

  private void show(long nowNanos) {
    published = descent == null ? (int) limit : descent.limit();
    if (!told) {
      obeyed.obeyed(published, nowNanos);
    }
  }

  private static int beta(double published) {
    return Math.max(Math.clamp((int) (published / 3), 3, 6), (int) (published / 10));
  }

  /** Lowers the limit by a tenth after drops, which have no usable latency. */
  private void giveWay(double from) {
    limit = range.clamp(from - Math.max(Log10.of(from), from / 10));
  }
}
