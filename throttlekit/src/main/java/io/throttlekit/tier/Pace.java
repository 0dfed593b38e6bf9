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

  /** How far a pace is wrong where requests come as evenly as they can. */
  private static final double BLUR = 0.02;

  private final long lengthNanos;
  private long previous = UNKNOWN;
  private long offered;
  private long firstUnits;

  /** When the first request of the window came. */
  private long firstNanos;

  /** Whether requests have been counted since the window began. */
  private boolean whole;

  Pace(long lengthNanos) {
    this.lengthNanos = lengthNanos;
  }

  /** A request wants units, and never did before. */
  void offer(long units, long now) {
    if (offered == 0) {
      firstUnits = units;
      firstNanos = now;
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
    long late = firstNanos - (beginNanos - lengthNanos);
    boolean sawAll = whole || (offered > 0 && late <= lengthNanos / SOON_PART);
    previous = windows > 1 ? 0 : sawAll ? offered : UNKNOWN;
    offered = 0;
    whole = true;
  }

  /**
   * Units that will be wanted from now to the end of the window.
   *
   * @param lastsUntilNanos the window does not end before
   * @param overByNanos it has ended then; a request that is due between the two is counted
   * @return from 0; {@link #UNKNOWN} when nobody can tell
   */
  long toCome(long now, long lastsUntilNanos, long overByNanos) {
    long intervals = offered == 0 ? 0 : offered - firstUnits;
    if (intervals < FEWEST) {
      return previous == UNKNOWN ? UNKNOWN : Math.max(0, previous - offered);
    }
    double nanosEach = (double) Math.max(1, now - firstNanos) / intervals;
    double steady = Math.max(0, overByNanos - now) / nanosEach;
    if (previous == UNKNOWN) {
      return inner(steady);
    }
    long asBefore = Math.max(0, previous - offered);
    long most = inner(steady * (1 + BLUR));
    long surely = inner(Math.max(0, lastsUntilNanos - now) / nanosEach * (1 - BLUR));
    if (isEarly(now) || most > surely) {
      return Math.max(asBefore, most);
    }
    return Math.abs(asBefore - steady) <= CLOSE ? asBefore : inner(steady);
  }

  /**
   * Units that will be wanted within so many ns, rounded up: as often as since the first request of
   * the window, and soon after that no less often than in the window before.
   */
  long within(long nanos, long now) {
    double units = (double) offered * nanos / Math.max(1, now - firstNanos);
    double since = Math.min(units, (double) offered);
    boolean knowsBefore = previous != UNKNOWN && isEarly(now);
    double before = knowsBefore ? (double) previous * nanos / lengthNanos : 0;
    return (long) Math.ceil(Math.max(since, before));
  }

  @Override
  public String toString() {
    return "%d wanted since %d, %d before%s"
        .formatted(offered, firstNanos, previous, whole ? "" : " or more");
  }

  private boolean isEarly(long now) {
    return now - firstNanos < lengthNanos / EARLY_PART;
  }

  /** How many requests come strictly before so many intervals are over. */
  private static long inner(double intervals) {
    return Math.max(0, (long) Math.ceil(intervals) - 1);
  }
}
