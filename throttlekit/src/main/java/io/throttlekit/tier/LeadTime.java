package io.throttlekit.tier;

/**
 * How long before the end of a window the next one is leased: longer where answers take long, and
 * different for every counter, so that not everyone asks at once. Not thread-safe; in ns.
 */
final class LeadTime {
  /** The least part of a window, one over this. */
  private static final int LEAST_PARTS = 20;

  /** The largest one. */
  private static final int MOST_PARTS = 4;

  private static final int ROUND_TRIPS = 4;
  private static final long SPREAD = 1 << 10;

  private final long lengthNanos;
  private final long share;

  /** The longest of the last answers, forgotten slowly. */
  private long roundTripNanos;

  /** Of windows so long, for a counter with this hash. */
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
    long lead = Math.max(lengthNanos / LEAST_PARTS, ROUND_TRIPS * roundTripNanos);
    return Math.min(lead + lead / SPREAD * share, lengthNanos / MOST_PARTS);
  }

  @Override
  public String toString() {
    return "round trip " + roundTripNanos;
  }
}
