package io.throttlekit.lease;

/**
 * Chooses how long before the end of a window the next one is leased: earlier where answers are
 * slow, and spread by the counter's hash so that not all counters are leased at once. Not
 * thread-safe. Times are ns.
 */
final class LeadTime {
  /**
   * Divides a window: the shortest lead is a twentieth of it, so that a late timer does no harm.
   */
  private static final int MIN_PARTS = 20;

  /** Divides a window: the longest lead is a quarter of it, since before too little is known. */
  private static final int MAX_PARTS = 4;

  /** Round trips that fit into a lead, so that a slow or repeated answer still arrives in time. */
  private static final int ROUND_TRIPS = 4;

  /** Steps of the spread, a power of two for the mask: leads vary by a factor from one to two. */
  private static final long SPREAD = 1 << 10;

  private final long lengthNanos;
  private final long share;

  /** The slowest recent answer; decays by an eighth with each answer. */
  private long roundTripNanos;

  /** Creates the lead time of a counter with this hash, for windows of this length. */
  LeadTime(long lengthNanos, long hash) {
    this.lengthNanos = lengthNanos;
    this.share = hash & (SPREAD - 1);
  }

  void answeredAfter(long nanos) {
    roundTripNanos = Math.max(nanos, roundTripNanos - roundTripNanos / 8);
  }

  long roundTripNanos() {
    return roundTripNanos;
  }

  long nanos() {
    // The lead must end within the window, so its maximum is applied last.
    long lead = Math.max(lengthNanos / MIN_PARTS, ROUND_TRIPS * roundTripNanos);
    return Math.min(lead + lead / SPREAD * share, lengthNanos / MAX_PARTS);
  }

  @Override
  public String toString() {
    return "round trip " + roundTripNanos;
  }
}
