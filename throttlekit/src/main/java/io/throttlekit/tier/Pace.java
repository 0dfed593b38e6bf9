package io.throttlekit.tier;

/**
 * How fast requests of one process want units of one counter, and so how many they will want before
 * the window ends.
 *
 * <p>Requests are taken to come as evenly as they have come since the window began, strictly
 * between now and its end; and to come as often as in the window before, as long as that differs
 * from it by no more than one and a half. Not thread-safe. Times are monotonic ns.
 */
final class Pace {
  /** More than anybody asks for: nothing is known yet. */
  static final long UNKNOWN = Long.MAX_VALUE;

  /** Intervals between requests that are needed to tell a pace. */
  private static final int FEWEST = 3;

  /** In so short a part of a window, one over this, requests tell little. */
  private static final int EARLY_PART = 4;

  /** Who counts from so soon after a window began, one over this of it, has seen all of it. */
  private static final int SOON_PART = 16;

  private static final double CLOSE = 1.5;

  private final long lengthNanos;
  private long previous = UNKNOWN;
  private long offered;
  private long firstUnits;
  private long sinceNanos;
  private boolean whole;

  Pace(long lengthNanos) {
    this.lengthNanos = lengthNanos;
  }

  /** A request wants units, and never did before. */
  void offer(long units, long now) {
    if (offered == 0) {
      firstUnits = units;
      if (!whole) {
        sinceNanos = now;
      }
    }
    offered = units > Long.MAX_VALUE - offered ? Long.MAX_VALUE : offered + units;
  }

  /** What was wanted since the window began. */
  long offered() {
    return offered;
  }

  /**
   * Windows have ended.
   *
   * @param windows how many, from 1
   * @param beginNanos of the one that lasts
   */
  void roll(long windows, long beginNanos) {
    long late = sinceNanos - (beginNanos - lengthNanos);
    boolean sawAll = whole || late <= lengthNanos / SOON_PART;
    previous = windows > 1 ? 0 : sawAll ? offered : UNKNOWN;
    offered = 0;
    firstUnits = 0;
    sinceNanos = beginNanos;
    whole = true;
  }

  /**
   * Units that will be wanted from now to the end of the window.
   *
   * @return from 0; {@link #UNKNOWN} when nobody can tell
   */
  long toCome(long now, long endNanos) {
    double steady = steady(now, endNanos);
    if (previous == UNKNOWN) {
      return steady < 0 ? UNKNOWN : inner(steady);
    }
    long asBefore = Math.max(0, previous - offered);
    if (now - sinceNanos < lengthNanos / EARLY_PART) {
      return Math.max(asBefore, inner(steady));
    }
    return Math.abs(asBefore - steady) <= CLOSE ? asBefore : inner(steady);
  }

  /** Units that will be wanted within so many ns, rounded up. */
  long within(long nanos, long now) {
    long elapsed = Math.max(1, now - sinceNanos);
    double units = (double) offered * nanos / elapsed;
    return units > lengthNanos ? lengthNanos : (long) Math.ceil(units);
  }

  /** Below 0 when requests were too few to tell. */
  private double steady(long now, long endNanos) {
    long intervals = whole ? offered : offered - firstUnits;
    long elapsed = now - sinceNanos;
    if (elapsed <= 0 || (previous == UNKNOWN && intervals < FEWEST)) {
      return -1;
    }
    return (double) intervals * Math.max(0, endNanos - now) / elapsed;
  }

  /** How many requests come strictly before so many intervals are over. */
  private static long inner(double intervals) {
    return Math.max(0, (long) Math.ceil(intervals) - 1);
  }
}
