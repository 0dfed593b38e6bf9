package io.throttlekit.limit;

import io.throttlekit.limit.ProbedVegasState.Restoring;
import io.throttlekit.limit.ProbedVegasState.Steady;
import io.throttlekit.limit.Probing.Outcome;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a short queue at the backend while requests queue there, and room for bursts while they do
 * not. Once per window:
 *
 * <pre>
 * more than 5 % dropped:  e = 1, and L −= max(log10 L, L/10), or 0.4·(L − T) if requests queue and
 *                         that is more
 * otherwise:
 * r = mean latency without outliers;  N = mean number of other requests in flight
 * B = latency without a queue;  S = N · min(1, B/r), at least 0.5: the requests in service
 * e = evidence of a queue: mean of t · max(0, N − S) / √S, as a share of 2, at most 1
 * T = e · (1 + S + min(3.5·√(S·D), 1.2·S·√D)) + (1 − e) · (1 + max(3·S, S + 12.75·√(S·D)))
 * L −= 0.4·(L − T), or L = min(T, 1.5·L)
 * </pre>
 *
 * <p>D is the dispersion of the arrivals ({@link ArrivalDispersion}). T without a queue (e = 0) is
 * at most 3 and 3/2 of the most in flight lately, but no less than T behind a queue (e = 1). {@link
 * QueueEvidence} has e; t is 1 when the limit refused requests in two windows in turn, else the
 * elasticity of latency ({@link LatencyResponse}), which distinguishes a queue from a slower
 * backend. By Little's law S is the throughput times B, whatever the limit was when the requests
 * began, so late samples do not change the limit twice for one cause. L does not rise twice in turn
 * while N − S is at least √S and r does not fall: the last rise may have caused the queue.
 *
 * <p>{@link Baseline} has B: requests that began while servers were idle decide; without them,
 * shorter latencies lower B, and longer ones raise it where latency does not follow the requests in
 * flight. Where it does, B is measured below a lowered limit ({@link ProbeSchedule}, {@link
 * Probing}), which costs throughput for a few round trips. Afterwards the limit returns to its old
 * value, or to T behind a queue if that is lower. Without a count of the refused requests ({@link
 * #refused}) nothing is measured.
 *
 * <p>While requests are refused and none ends, L is halved every 2 s or 10·B. After a load that has
 * stopped, which leaves refusals in its last window, L stays.
 *
 * <p>After TCP Vegas (Brakmo and Peterson, 1995) and the measurement of minRTT in Envoy's gradient
 * controller.
 */
public final class ProbedVegasLimit implements ConcurrencyLimit {
  /** The share of the excess that a step removes: throughput lags behind the limit. */
  private static final double FALL = 0.4;

  /**
   * The factor by which a limit rises at most; doubling overshoots where capacity rises in steps.
   */
  private static final double MAX_RISE = 1.5;

  /** The share of the peak in flight that each window leaves: half is left after 69 windows. */
  private static final double PEAK_KEPT = 0.99;

  /** The least mean number of requests in service: a limit that is hardly used stays usable. */
  private static final double MIN_IN_SERVICE = 0.5;

  /** The latency, as a multiple of the baseline, up to which digests show no queue. */
  private static final double IDLE = 1.1;

  /** The latency, as a multiple of the baseline, from which digests may show a slower backend. */
  private static final double LONGER = 1.2;

  /** Windows with refusals in a row that are no burst. */
  private static final int LASTING_WINDOWS = 2;

  /** The share of the requests in service that the first step of a measurement admits. */
  private static final double FIRST_STEP = 0.7;

  /** The least first step of a measurement, as a share of the limit in use. */
  private static final double MIN_STEP = 0.3;

  /** The greatest first step of a measurement, as a share of the limit in use. */
  private static final double MAX_STEP = 0.7;

  /** The least time without an end that means a backend that hangs, if requests are refused. */
  private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** The least time without an end that means a backend that hangs, in latencies. */
  private static final int SILENCE_LATENCIES = 10;

  private final LimitRange range;
  private final Settings settings;
  private final SampleWindow window;
  private final AppliedLimit applied;
  private final ProbeSchedule schedule;
  private final QueueEvidence evidence = new QueueEvidence();
  private final LatencyResponse response = new LatencyResponse();
  private final ArrivalDispersion dispersion = new ArrivalDispersion();
  final Baseline baseline = new Baseline();
  private double estimate;
  private double peak;
  private double lastLatency;
  private boolean rose;

  /** Whether samples are made of digests, and are not single requests. */
  private boolean digested;

  /** Whether a request has ended. */
  private boolean ended;

  /** When the last request ended, or the limit was halved because none did. */
  private long endedNanos;

  /** When the last request was refused, if any was in this window. */
  private long refusedNanos;

  private ProbedVegasState state = new Steady();
  private volatile int published;

  /**
   * The settings of a {@link ProbedVegasLimit}.
   *
   * @param window when the limit changes
   * @param probeIntervalNanos interval between measurements of the baseline, from 1; {@link
   *     ProbeSchedule} has what makes it longer or shorter
   * @param minProbeSamples requests that make a measurement if their latencies are alike, from 1
   * @param maxProbeSamples the most requests that make a measurement, from {@code minProbeSamples};
   *     fewer if they take longer than 2 s
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
     * Returns these settings for limiters that apply a limit before they acknowledge it, and report
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
    this.window = new SampleWindow(settings.window());
    this.applied = new AppliedLimit(range.initial());
    this.schedule = new ProbeSchedule(settings.probeIntervalNanos(), random);
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
  public int restingInFlight() {
    return LimitTarget.peakFor(limit());
  }

  @Override
  public void learn(Sample sample) {
    if (!sample.dropped() && sample.rttNanos() == 0) { // not measured
      return;
    }
    long now = sample.arrivedNanos();
    switch (state) {
      case Steady _ -> add(sample);
      case Probing probing -> endIfOver(probing, probing.learn(sample), now);
      case Restoring restoring -> {
        if (restoring.isOver(now)) {
          state = new Steady();
          add(sample);
        } else if (restoring.ignores(sample)) {
          endedNanos = now;
        } else {
          add(sample);
        }
      }
    }
    publish();
  }

  @Override
  public void learn(RequestStatistics statistics, long requests) {
    digested = true;
    response.add(statistics.slope());
    dispersion.add(statistics.arrivals(), requests);
  }

  @Override
  public void refused(long arrivedNanos, long requests) {
    window.refused(arrivedNanos, requests);
    if (requests > 0) {
      refusedNanos = arrivedNanos;
    }
    onTick(arrivedNanos);
  }

  @Override
  public void onTick(long nowNanos) {
    window.at(nowNanos);
    if (state instanceof Probing probing) {
      endIfOver(probing, probing.timedOut(nowNanos), nowNanos);
    } else if (isSilent(nowNanos)) {
      evidence.overloaded();
      estimate = range.clamp(estimate / 2);
      endedNanos = nowNanos;
    }
    publish();
  }

  @Override
  public void acknowledged(int requests, long sinceNanos) {
    applied.acknowledged(Math.max(1, requests));
    if (state instanceof Probing probing) {
      probing.acknowledged(requests, sinceNanos);
      return;
    }
    if (requests == (int) estimate) {
      schedule.acknowledged();
    }
    if (state instanceof Restoring restoring) {
      restoring.acknowledged(estimate, requests, sinceNanos);
    }
  }

  /** To be called by the thread that feeds samples. */
  @Override
  public long baselineNanos() {
    return (long) baseline.nanos();
  }

  @Override
  public void resume(long baselineNanos, long nowNanos) {
    if (baselineNanos > 0) {
      baseline.resume(baselineNanos);
      schedule.resumed(baseline.nanos(), nowNanos);
    }
  }

  /** To be called by the thread that feeds samples. */
  @Override
  public boolean isProbing() {
    return state instanceof Probing;
  }

  private void add(Sample sample) {
    long now = sample.arrivedNanos();
    ended = true;
    endedNanos = now;
    window.add(sample);
    if (!digested) {
      addRequest(sample);
    }
    if (window.ripe(now)) {
      if (window.overloaded()) {
        overloaded();
      } else {
        step(now);
      }
      window.next(now);
    }
  }

  /** Adds a sample of a single request. */
  private void addRequest(Sample sample) {
    dispersion.began(sample);
    if (!sample.dropped()) {
      baseline.add(sample);
      response.add(sample);
    }
  }

  private void overloaded() {
    evidence.overloaded();
    response.skip();
    baseline.next(0);
    estimate = range.clamp(Math.min(Log10.afterDrops(estimate), afterQueue()));
  }

  /** Returns the limit after a step towards the target behind a queue, if requests queue. */
  private double afterQueue() {
    if (!window.measured() || baseline.nanos() == 0) {
      return estimate;
    }
    double others = window.meanInFlight() - 1;
    double inService = inService(others, window.trimmedMean());
    if (!QueueEvidence.isQueued(others, inService)) { // errors are no sign of a queue
      return estimate;
    }
    double target = new LimitTarget(inService, dispersion.value(), peak).behindQueue();
    return fallen(Math.min(estimate, target));
  }

  private void step(long nowNanos) {
    double latency = window.trimmedMean();
    double inFlight = window.meanInFlight();
    double others = inFlight - 1;
    boolean saturated = window.saturated();
    double expected = baseline.nanos() == 0 ? latency : baseline.nanos();
    response.next(inFlight, latency, expected, saturated);
    schedule.next(saturated, window.requests());
    boolean idle = isIdle(latency, saturated);
    boolean confirmed =
        baseline.follow(
            latency, window.requests(), evidence.isQueued(), idle || isSlower(saturated));
    if (confirmed || idle) {
      double duration = Probing.duration(inFlight / latency, latency, settings);
      schedule.confirmed(baseline.nanos(), duration, nowNanos);
    }
    double inService = inService(others, latency);
    double trust = schedule.refusingWindows() >= LASTING_WINDOWS ? 1 : response.follows();
    evidence.add(others, inService, trust, window.requests());
    peak = Math.max(window.maxInFlight(), PEAK_KEPT * peak);
    double target = new LimitTarget(inService, dispersion.value(), peak).at(evidence.value());
    move(target, latency);
    baseline.next(inService);
    dispersion.next(baseline.nanos(), saturated);
    boolean due = response.isQueue() && schedule.isDue(baseline.nanos(), nowNanos);
    if (due || (isDoubtful(latency) && schedule.mayDoubt(nowNanos))) {
      probe(inFlight, latency, nowNanos);
    }
  }

  /**
   * Returns whether requests met no queue, where samples are not single requests: the mean latency
   * is hardly longer than the baseline.
   */
  private boolean isIdle(double latency, boolean saturated) {
    return digested && !saturated && !response.isQueue() && latency < IDLE * baseline.nanos();
  }

  /**
   * Returns whether the backend is certainly slower. With digests there is no certainty while the
   * limit is full.
   */
  private boolean isSlower(boolean saturated) {
    return response.isNoQueue() && !(digested && saturated);
  }

  /** Returns whether the backend may be slower, which with digests needs a measurement. */
  private boolean isDoubtful(double latency) {
    return digested && response.isNoQueue() && latency > LONGER * baseline.nanos();
  }

  private void move(double target, double latency) {
    double before = estimate;
    if (target < estimate) {
      estimate = range.clamp(fallen(target));
    } else if (!(rose && evidence.isQueued() && latency >= lastLatency)) {
      // Else the last rise may have caused the queue.
      estimate = range.clamp(Math.min(target, MAX_RISE * estimate));
    }
    rose = estimate > before;
    lastLatency = latency;
  }

  private double fallen(double target) {
    return estimate - FALL * (estimate - target);
  }

  /** Returns the requests in service among those in flight, by Little's law. */
  private double inService(double inFlight, double latency) {
    return Math.max(MIN_IN_SERVICE, inFlight * Math.min(1, baseline.nanos() / latency));
  }

  private void probe(double inFlight, double latency, long nowNanos) {
    // Leaves servers idle if the baseline is right, and is not lower than needed.
    double inService = inService(inFlight, latency);
    double inUse = Math.min(estimate, inFlight);
    int first = (int) Math.clamp(FIRST_STEP * inService, MIN_STEP * inUse, MAX_STEP * inUse);
    state =
        new Probing(first, range.min(), inFlight / latency, latency, nowNanos, applied, settings);
  }

  /**
   * Returns whether requests are refused and none has ended for long. A load that stops is no sign:
   * its last refusals come with the last ends, or in the next message of a log.
   */
  private boolean isSilent(long nowNanos) {
    double silence = Math.max((double) SILENCE_NANOS, SILENCE_LATENCIES * baseline.nanos());
    return ended
        && nowNanos - endedNanos > silence
        && window.refused() > 0
        && refusedNanos - endedNanos > silence / 2;
  }

  private void endIfOver(Probing probing, @Nullable Outcome outcome, long nowNanos) {
    if (outcome == null) {
      return;
    }
    boolean agreed = outcome instanceof Outcome.Measured(double nanos) && baseline.agrees(nanos);
    switch (outcome) {
      case Outcome.Measured(double nanos) -> apply(nanos, probing);
      case Outcome.AtMost(double nanos) when nanos < baseline.nanos() -> apply(nanos, probing);
      case Outcome.Overloaded _ -> {
        evidence.overloaded();
        estimate = range.clamp(Log10.afterDrops(probing.limit()));
      }
      case Outcome.AtMost _, Outcome.Unknown _ -> {}
    }
    schedule.ended(
        agreed, baseline.nanos(), probing.isAcknowledged(), probing.duration(nowNanos), nowNanos);
    response.skip();
    endedNanos = nowNanos;
    if (applied.acknowledges()) {
      Restoring restoring =
          new Restoring(probing.limit(), nowNanos, settings.probeIntervalNanos() / 2);
      restoring.acknowledged(estimate, applied.requests(), nowNanos);
      state = restoring;
    } else {
      state = new Steady();
    }
    window.next(nowNanos);
  }

  private void apply(double measuredNanos, Probing probing) {
    baseline.measure(measuredNanos);
    double latency = probing.initialLatency();
    double others = probing.initialThroughput() * latency - 1;
    double inService = inService(others, latency);
    evidence.add(others, inService, 1, settings.maxProbeSamples());
    LimitTarget target = new LimitTarget(inService, dispersion.value(), peak);
    estimate = range.clamp(Math.min(estimate, target.behindQueue()));
  }

  private void publish() {
    published = state instanceof Probing probing ? probing.limit() : (int) estimate;
    applied.published(published);
  }
}
