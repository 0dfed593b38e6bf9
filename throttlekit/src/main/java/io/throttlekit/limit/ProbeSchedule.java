package io.throttlekit.limit;

import java.util.random.RandomGenerator;

/**
 * When {@link ProbedVegasLimit} measures its baseline: not while requests that met no queue confirm
 * it, and the less often the more a measurement cost and the less it changed. Not thread-safe.
 */
final class ProbeSchedule {
  /** Windows with refusals in a row, before a measurement: a burst is no lasting overload. */
  private static final int REFUSING_WINDOWS = 3;

  /**
   * Intervals after requests have confirmed the baseline, or from a measurement to a doubt about
   * its result.
   */
  private static final double AFTER_CONFIRMED = 0.5;

  /** Intervals after a measurement that agreed with the baseline. */
  private static final double AFTER_AGREED = 2;

  /** Intervals after a measurement that did not agree with the baseline. */
  private static final double AFTER_CHANGED = 0.2;

  /** Intervals after a measurement that limiters did not acknowledge, unless they do later. */
  private static final double AFTER_IGNORED = 10;

  /** The least wait after a measurement that agreed, as a multiple of its duration. */
  private static final int DURATIONS_AFTER_AGREED = 40;

  /** The least wait after a measurement that did not agree, as a multiple of its duration. */
  private static final int DURATIONS_AFTER_CHANGED = 10;

  /** The least wait after a confirmation, as a multiple of the duration of a measurement. */
  private static final int DURATIONS_AFTER_CONFIRMED = 10;

  /** How far the baseline rises without a confirmation until it is doubtful. */
  private static final double RISEN = 1.15;

  /** Requests without a confirmation from which a risen baseline is doubtful. */
  private static final long RISEN_REQUESTS = 1_000;

  /** The part of an interval, as a divisor, without a confirmation from which there is doubt. */
  private static final int UNCONFIRMED_INTERVAL_PART = 4;

  /** The part of a wait that is added to it at most, as in Envoy's gradient controller. */
  private static final double JITTER = 0.15;

  private final long intervalNanos;
  private final RandomGenerator random;
  private boolean known;
  private boolean ignored;
  private boolean measured;
  private long measuredNanos;
  private long sinceNanos;
  private long confirmedNanos;
  private double waitNanos;
  private double baselineNanos;
  private long requests;
  private int refusing;

  /**
   * Creates a schedule in which a measurement is due in the first window with refusals.
   *
   * @param intervalNanos between measurements, from 1
   * @param random spreads the measurements of a fleet
   */
  ProbeSchedule(long intervalNanos, RandomGenerator random) {
    this.intervalNanos = intervalNanos;
    this.random = random;
  }

  /** Starts with a baseline that was learned before: the first measurement follows an interval. */
  void resumed(double baseline, long nowNanos) {
    startWait(intervalNanos * jitter(), nowNanos);
    confirm(baseline, nowNanos);
  }

  /**
   * Records that requests without a queue confirm a baseline. Does not count while nothing is known
   * and requests are refused: all may have queued from the first one on.
   *
   * @param baseline in ns
   * @param durationNanos how long a measurement would take now
   */
  void confirmed(double baseline, double durationNanos, long nowNanos) {
    if (!known && refusing > 0) {
      return;
    }
    double wait =
        Math.max(AFTER_CONFIRMED * intervalNanos, DURATIONS_AFTER_CONFIRMED * durationNanos)
            * jitter();
    if (!known || waitNanos - (nowNanos - sinceNanos) < wait) {
      startWait(wait, nowNanos);
    }
    confirm(baseline, nowNanos);
  }

  /**
   * Records a measurement.
   *
   * @param agreed whether it agreed with the baseline before
   * @param baseline after it, in ns
   * @param acknowledged whether limiters acknowledged it
   * @param durationNanos how long it took
   */
  void ended(
      boolean agreed, double baseline, boolean acknowledged, long durationNanos, long nowNanos) {
    double wait =
        agreed
            ? Math.max(
                AFTER_AGREED * intervalNanos, DURATIONS_AFTER_AGREED * (double) durationNanos)
            : Math.max(
                AFTER_CHANGED * intervalNanos, DURATIONS_AFTER_CHANGED * (double) durationNanos);
    startWait((acknowledged ? wait : AFTER_IGNORED * intervalNanos) * jitter(), nowNanos);
    confirm(baseline, nowNanos);
    ignored = !acknowledged;
    measured = true;
    measuredNanos = nowNanos;
  }

  /** Records that limiters have acknowledged the current limit. */
  void acknowledged() {
    if (ignored) {
      ignored = false;
      waitNanos = Math.min(waitNanos, intervalNanos * jitter());
    }
  }

  /**
   * Ends a window.
   *
   * @param saturated whether the limit refused requests
   * @param count number of its requests
   */
  void next(boolean saturated, int count) {
    refusing = saturated ? refusing + 1 : 0;
    requests += count;
  }

  /** Returns in how many of the last windows in a row the limit refused requests. */
  int refusingWindows() {
    return refusing;
  }

  /** Returns whether a doubt about the baseline may start a measurement. */
  boolean mayDoubt(long nowNanos) {
    return refusing >= REFUSING_WINDOWS
        && !ignored
        && isUnconfirmed(nowNanos)
        && (!measured || nowNanos - measuredNanos >= AFTER_CONFIRMED * intervalNanos);
  }

  /**
   * Returns whether a measurement is due.
   *
   * @param baseline now, in ns
   */
  boolean isDue(double baseline, long nowNanos) {
    if (!known) {
      return refusing > 0;
    }
    long passed = nowNanos - sinceNanos;
    boolean risen =
        baseline > RISEN * baselineNanos && requests >= RISEN_REQUESTS && isUnconfirmed(nowNanos);
    return refusing >= REFUSING_WINDOWS && (passed >= waitNanos || (risen && !ignored));
  }

  /** Returns whether nothing has confirmed the baseline for long. */
  private boolean isUnconfirmed(long nowNanos) {
    return nowNanos - confirmedNanos >= intervalNanos / UNCONFIRMED_INTERVAL_PART;
  }

  private void startWait(double nanos, long nowNanos) {
    known = true;
    sinceNanos = nowNanos;
    waitNanos = nanos;
  }

  private void confirm(double baseline, long nowNanos) {
    confirmedNanos = nowNanos;
    baselineNanos = baseline;
    requests = 0;
  }

  private double jitter() {
    return 1 + random.nextDouble(JITTER);
  }
}
