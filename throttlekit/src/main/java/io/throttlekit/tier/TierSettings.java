package io.throttlekit.tier;

/**
 * How much the tiers keep in memory, and how long a request waits.
 *
 * @param maxCells most counters whose leases are kept, and most whose refusals are; from 1
 * @param patienceNanos longest that a request waits for leases and the store together, in ns, from
 *     1; then {@link Outage} decides
 * @param localShare share of each limit that this process admits by {@link Outage#LOCAL}, 0 to 1
 */
public record TierSettings(long maxCells, long patienceNanos, double localShare) {

  /** Checks the ranges. */
  public TierSettings {
    if (maxCells < 1 || patienceNanos < 1) {
      throw new IllegalArgumentException("maxCells and patienceNanos must be at least 1");
    }
    if (!(localShare >= 0 && localShare <= 1)) {
      throw new IllegalArgumentException("localShare must be from 0 to 1, was " + localShare);
    }
  }
}
