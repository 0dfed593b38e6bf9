package io.throttlekit.limit;

/**
 * How much of a limit its requests use, from one window to the next: the slots that bursts and
 * random arrivals leave unused although the limit refuses requests, and the peak of the requests in
 * flight while it refuses none. Not thread-safe.
 */
final class LimitUsage {
  /** Requests in a window from which its figures are not chance. */
  static final int MIN_REQUESTS = 50;

  /** The weight of a window in the mean of the unused slots. */
  private static final double WEIGHT = 0.25;

  /** The share of the unused slots that a window without refusals leaves. */
  private static final double KEPT = 0.9;

  /** Unused slots of a full limit: one is free until the next request comes. */
  private static final int ALWAYS_UNUSED = 1;

  /** The share of a peak that each window leaves: half is left after 69 windows. */
  private static final double PEAK_KEPT = 0.99;

  private boolean saturated;
  private boolean full;
  private double unused;
  private double peak;
  private int maxInFlight;
  private double meanInFlight;
  private boolean crowded;

  /**
   * Adds a window.
   *
   * @param applied mean limit below which its requests began
   */
  void add(SampleWindow window, double applied) {
    boolean before = saturated;
    saturated = window.saturated();
    // Refusals in a single window may be those of a burst, unless they are many.
    // Where requests are few, a queue would last many seconds until the limit refuses some.
    boolean few = window.requests() < MIN_REQUESTS;
    full = few || (saturated && (before || window.crowded()));
    crowded = window.crowded() && !few;
    if (!saturated) {
      unused *= KEPT;
    } else if (before) { // else the limit was not full for all of the window
      double now = Math.max(0, applied - window.meanInFlight());
      unused += WEIGHT * (now - unused);
    }
    maxInFlight = window.maxInFlight();
    meanInFlight = window.meanInFlight();
    boolean forgets = few || (saturated && before);
    peak = forgets ? 0 : Math.max(maxInFlight, PEAK_KEPT * peak);
  }

  /** Returns whether requests are refused for longer than a burst, or may be soon. */
  boolean full() {
    return full;
  }

  /** Returns whether requests were refused in the last window. */
  boolean saturated() {
    return saturated;
  }

  /** Returns whether a tenth of the requests was refused, of at least {@link #MIN_REQUESTS}. */
  boolean crowded() {
    return crowded;
  }

  /** Returns the mean of the slots that are unused while requests are refused. */
  double unused() {
    return Math.max(0, unused - ALWAYS_UNUSED);
  }

  /** Returns the most in flight in the last window. */
  int maxInFlight() {
    return maxInFlight;
  }

  /** Returns the mean of the requests in flight when those of the last window began. */
  double meanInFlight() {
    return meanInFlight;
  }

  /** Returns the most in flight lately, while the limit refused no or few requests. */
  double peak() {
    return peak;
  }
}
