package io.throttlekit.lease;

import io.throttlekit.Cost;

/**
 * Estimates how fast one process's requests want units of one counter, and so the demand that is
 * left in the window.
 *
 * <p>Two estimates are used. Requests are assumed to be as evenly spaced for the rest of the
 * window, strictly between now and its end, as since its first request. And demand is assumed to
 * equal that of the previous window, as long as the two estimates differ by at most {@link #CLOSE}
 * units. Not thread-safe. Times are monotonic ns.
 */
final class Pace {
  /** No estimate; larger than any demand. */
  static final long UNKNOWN = Long.MAX_VALUE;

  /** The fewest intervals between requests from which a pace is estimated. */
  private static final int MIN_INTERVALS = 3;

  /**
   * Until a quarter of a window has passed since its first request, its requests are too few to
   * estimate from alone.
   */
  private static final int EARLY_PART = 4;

  /**
   * A process whose first request came in the first sixteenth of a window has seen all its demand.
   */
  private static final int SOON_PART = 16;

  /**
   * The most that the two estimates may differ by, in units, for the previous window's to be used:
   * evenly spaced requests shift by about one between windows.
   */
  private static final double CLOSE = 1.5;

  /** The relative error of a pace measured from evenly spaced requests. */
  private static final double BLUR = 0.02;

  private final long lengthNanos;
  private long previous = UNKNOWN;
  private long offered;
  private long firstUnits;

  /** When the first request of the window arrived. */
  private long firstNanos;

  /** Whether requests have been counted since the window began. */
  private boolean whole;

  Pace(long lengthNanos) {
    this.lengthNanos = lengthNanos;
  }

  /** Counts the demand of a new request. */
  void offer(long units, long now) {
    if (offered == 0) {
      firstUnits = units;
      firstNanos = now;
    }
    offered = units > Long.MAX_VALUE - offered ? Long.MAX_VALUE : offered + units; // saturates
  }

  /** Returns the demand since the window began. */
  long offered() {
    return offered;
  }

  /**
   * Returns the units that a whole window like this one wants.
   *
   * @param toCome as returned by {@link #toCome}
   */
  long ofWholeWindow(long toCome) {
    // Bounded, so that the sum cannot overflow.
    return Math.min(offered, Cost.MAX) + (toCome == UNKNOWN ? 0 : Math.min(toCome, Cost.MAX));
  }

  /**
   * Moves on to a later window.
   *
   * @param windows how many have ended, from 1
   * @param beginNanos when the current one began
   */
  void roll(long windows, long beginNanos) {
    long late = firstNanos - (beginNanos - lengthNanos);
    boolean sawAll = whole || (offered > 0 && late <= lengthNanos / SOON_PART);
    // After a whole window without requests, the previous demand is 0.
    previous = windows > 1 ? 0 : sawAll ? offered : UNKNOWN;
    offered = 0;
    whole = true;
  }

  /**
   * Returns the units that will be wanted from now to the end of the window.
   *
   * @param lastsUntilNanos the window does not end before
   * @param overByNanos the window has ended by then; a request due between the two is counted
   * @return from 0; {@link #UNKNOWN} without an estimate
   */
  long toCome(long now, long lastsUntilNanos, long overByNanos) {
    long intervals = offered == 0 ? 0 : offered - firstUnits;
    if (intervals < MIN_INTERVALS) {
      return previous == UNKNOWN ? UNKNOWN : Math.max(0, previous - offered);
    }
    double nanosEach = (double) Math.max(1, now - firstNanos) / intervals; // else a division by 0
    double steady = Math.max(0, overByNanos - now) / nanosEach; // 0 once the end has passed
    if (previous == UNKNOWN) {
      return inner(steady);
    }
    long asBefore = Math.max(0, previous - offered);
    long most = inner(steady * (1 + BLUR));
    long surely = inner(Math.max(0, lastsUntilNanos - now) / nanosEach * (1 - BLUR));
    // While the pace is uncertain, the larger estimate: too few units cost a round trip, too many
    // are returned.
    if (isEarly(now) || most > surely) {
      return Math.max(asBefore, most);
    }
    return Math.abs(asBefore - steady) <= CLOSE ? asBefore : inner(steady);
  }

  /**
   * Returns the units that will be wanted within {@code nanos}, rounded up: at the pace since the
   * window's first request and, early in the window, at least at the previous window's pace.
   */
  long within(long nanos, long now) {
    // At least one ns: the first request would divide by 0.
    double units = (double) offered * nanos / Math.max(1, now - firstNanos);
    double since = Math.min(units, (double) offered); // at most as many as so far
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

  /**
   * Returns how many evenly spaced requests arrive strictly before {@code intervals} have passed.
   */
  private static long inner(double intervals) {
    return Math.max(0, (long) Math.ceil(intervals) - 1);
  }
}
