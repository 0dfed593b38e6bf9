package io.throttlekit.concurrency;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a small queue at the backend, of a large ceiling a tenth, inferred from median latency
 * against a baseline that stands still while there is a queue and is measured anew by lowering the
 * ceiling. Once per window:
 *
 * <pre>
 * more than 5 % given up:  L −= max(k, L/10), and nothing else
 * r = median;  B = baseline:  r &lt; B: B += (r − B)/5;  else unless saturated: B += (r − B)·2/61
 * O more by a quarter, r by less than a tenth, both crowded:  B = max(B, the lower r)
 * X = O/r;  queue = max(0, ⌈⌊L⌋ − X·B⌉);  seen = ⌈O − X·B⌉;  k = max(1, ⌊log10 L⌋)
 * beta = max(3, min(6, L/3), L/10);  alpha = ⌈2·beta/3⌉
 * q = min(queue, seen) &gt; beta:                L −= max(k, (q − beta)/4)
 * queue &lt; alpha, and half of L was in use:    L += beta − queue
 * L ≤ 5 · most in flight (reached in steps of k)
 * </pre>
 *
 * <p>O is the ceiling that was obeyed when the requests of the window began, in the mean. By
 * Little's law X is the throughput of a full ceiling, and X·B what is worked on: the queue of L is
 * known before anything has ended that began below L, and who hears late does not move twice for
 * one cause. Of an L that has stood for 5 s, only what gates let in counts, for some may never
 * obey.
 *
 * <p>Saturated is a window in which the ceiling kept more than 0.5 % of the requests away, crowded
 * one in which it kept more than 10 %. A ceiling that is not told what it refused ({@link
 * #refused}) takes a lasting queue for the backend's own latency in the end.
 *
 * <p>When there is saturation and the last measurement is a minute old, two if it confirmed the
 * baseline within a tenth, ten if gates did not obey it, or five decreases in a row did not help,
 * the ceiling is lowered below X·B until the older queue is gone and requests end, and further for
 * as long as that does not lower the throughput. What they took replaces B, down to half of it;
 * less than a fifth below B, it counts half. Then the ceiling goes back to where it was, or to beta
 * above the X·B that is known now. That costs throughput for a few round trips a minute, and knows
 * a slower backend from a longer queue. After TCP Vegas (Brakmo and Peterson, 1995), the
 * measurement of Envoy's gradient controller, and Smith's way with a late answer (1957).
 */
public final class ProbedVegasLimit implements ConcurrencyLimit {
  /** Decreases in a row that did not help, after which the baseline is doubted. */
  private static final int DOUBTED = 5;

  /** By what part a ceiling must be lower for latency to tell whether it helps. */
  private static final double NOTICEABLE = 0.1;

  /** What part of a decrease latency must follow for it to have helped. */
  private static final double FOLLOWS = 0.5;

  /** What part of what is worked on is let in by a measurement, and of the ceiling. */
  private static final double IDLE = 0.8;

  private static final double LEAST_STEP = 0.4;
  private static final double MOST_STEP = 0.7;

  /** Intervals after a measurement that gates did not obey: those that do would suffer alone. */
  private static final int IN_VAIN = 10;

  /** What gates do not obey so long after it was asked, they will not; a log may be as late. */
  private static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final int MOST_OF_IN_FLIGHT = 5;

  private final CeilingRange range;
  private final Settings settings;
  private final RandomGenerator random;
  private final SampleWindow window;
  private final ObeyedCeilings obeyed;
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
  private volatile int ceiling;

  /**
   * How a {@link ProbedVegasLimit} measures.
   *
   * @param window when it moves
   * @param probeIntervalNanos from one measurement of the baseline to the next while requests are
   *     refused, from 1; twice as long after one that confirmed the baseline, ten times after one
   *     that was not obeyed, up to 15 % more at random, and at least half of it after the last
   *     window without
   * @param probeSamples requests that make a measurement, from 1
   * @param marginNanos how long after gates said that they obey ({@link #inForce}) the queue of a
   *     measurement begins to drain, from 0; what the gate's clock, the beginning inferred from a
   *     late access log and a queue that drains may amount to. Means nothing to a gate that never
   *     says so, which obeys at once
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

    /** Windows from 1 s, a measurement of 100 requests each minute, a margin of 600 ms. */
    public static Settings defaults() {
      return new Settings(
          WindowSettings.defaults(),
          TimeUnit.SECONDS.toNanos(60),
          100,
          TimeUnit.MILLISECONDS.toNanos(600));
    }
  }

  /**
   * A law at its initial ceiling.
   *
   * @param random spreads the measurements, so that the ceilings of a fleet do not fall together
   */
  public ProbedVegasLimit(CeilingRange range, Settings settings, RandomGenerator random) {
    this.range = range;
    this.settings = settings;
    this.random = random;
    this.window = new SampleWindow(settings.window());
    this.obeyed = new ObeyedCeilings(range.initial());
    this.limit = range.initial();
    this.ceiling = range.initial();
  }

  @Override
  public int ceiling() {
    return ceiling;
  }

  @Override
  public void learn(Sample sample) {
    if (!sample.dropped() && sample.rttNanos() == 0) { // never measured
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
    if (descent != null && descent.isOver(arrivedNanos)) { // nobody says how requests end
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
      unobeyed &= requests != (int) limit;
      if (restoring && isBack()) {
        restoring = false;
        restoredNanos = sinceNanos;
      }
    }
  }

  /** Whether gates let in more again than a measurement did, half of what it took away at least. */
  private boolean isBack() {
    int back = Math.min((int) limit, (measuredBelow + (int) limit) / 2);
    return limit <= measuredBelow || obeyed.latest() >= back;
  }

  /** What a request takes without a queue, in ns, or 0 where it is not known. */
  double baselineNanos() {
    return baseline.nanos();
  }

  /** Whether the ceiling is lowered to measure the baseline. By the thread that tells. */
  public boolean measuring() {
    return descent != null;
  }

  /**
   * Whether a request that ended after a measurement began during it: one that waited for nobody
   * there would make the ceiling grow by what the measurement itself made room for. A gate that
   * does not say when it obeys lets in by the old ceiling again at once.
   */
  private boolean letInByLowered(Sample sample) {
    if (!measured) {
      return false;
    }
    if (sample.arrivedNanos() - measuredNanos >= settings.probeIntervalNanos() / 2) {
      measured = false; // whatever the gate and the request say
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
    if (!saturated) {
      long calm = nowNanos + settings.probeIntervalNanos() / 2;
      if (!probeSet || calm - probeNanos > 0) {
        probeSet = true;
        probeNanos = calm;
      }
    }
    boolean doubted = doubted(median) && !unobeyed;
    boolean due = doubted || (saturated && (!probeSet || nowNanos - probeNanos >= 0));
    restoring &= !isBack();
    if (due && !restoring) { // a gate that does not obey yet would not obey a lower one either
      descent = new Descent(firstStep(), range.min(), throughput, median, nowNanos, told, settings);
      lookWhatIsObeyed(descent, nowNanos);
    }
  }

  /** Whether latency does not follow the ceiling down: then it is no queue, as far as is known. */
  private boolean doubted(double median) {
    if (decreases < DOUBTED) {
      return false;
    }
    double lowered = 1 - obeyed.mean() / decreasedFrom;
    if (lowered < NOTICEABLE) {
      return false; // what was decreased is not obeyed yet, so nothing can have helped
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
      boolean inUse = 2.0 * window.maxInFlight() >= limit && 2 * obeyed.mean() >= limit;
      if (queue < alpha && inUse) {
        limit += beta - queue;
      }
    }
    double top = (double) MOST_OF_IN_FLIGHT * window.maxInFlight();
    if (limit > top) {
      limit = old > top ? Math.max(old - k, top) : top;
    }
    limit = range.clamp(limit);
  }

  /**
   * What gates let in, or will soon, of a whole ceiling. Some may never obey, and what these hold
   * nobody lets in.
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

  /** Low enough to leave servers idle if the baseline is right, and no lower than needed. */
  private int firstStep() {
    double idle = IDLE * throughput * baseline.nanos();
    double inUse = Math.min(limit, obeyed.mean());
    return (int) Math.clamp(idle, LEAST_STEP * inUse, MOST_STEP * inUse);
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

  /** Gates may let in as little already, and say nothing new then. */
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
    measuredBelow = ended.ceiling();
    restoring = told && !isBack();
    shown = 0; // and has not rested
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
    ceiling = descent == null ? (int) limit : descent.ceiling();
    if (!told) {
      obeyed.obeyed(ceiling, nowNanos);
    }
  }

  private static int beta(double ceiling) {
    return Math.max(Math.clamp((int) (ceiling / 3), 3, 6), (int) (ceiling / 10));
  }

  /** Takes a tenth away, for requests were given up: latency says nothing about them. */
  private void giveWay(double from) {
    limit = range.clamp(from - Math.max(Log10.of(from), from / 10));
  }
}
