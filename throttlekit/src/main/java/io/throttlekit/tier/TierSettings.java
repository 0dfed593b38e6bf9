package io.throttlekit.tier;

import java.time.Duration;

/**
 * Bounds on memory, waiting and the share of this process.
 *
 * @param maxCells the most counters with leased units, and the most cached refusals; from 1
 * @param waitTimeoutNanos the longest wait of a request for leases and the store together, in ns,
 *     from 1; then {@link Outage} decides
 * @param localShare the share of each limit that this process admits by {@link Outage#LOCAL}, 0 to
 *     1
 */
public record TierSettings(long maxCells, long waitTimeoutNanos, double localShare) {
  /** 100,000 counters, a wait of at most 1 s, and a tenth of each limit. */
  public static final TierSettings DEFAULT = new TierSettings(100_000, 1_000_000_000, 0.1);

  /** Returns these settings with another wait, from 1 ns. */
  public TierSettings withWaitTimeout(Duration longest) {
    return new TierSettings(maxCells, longest.toNanos(), localShare);
  }

  /** Checks the ranges. */
  public TierSettings {
    if (maxCells < 1 || waitTimeoutNanos < 1) {
      throw new IllegalArgumentException("maxCells and waitTimeoutNanos must be at least 1");
    }
    // Negated so that NaN fails, too.
    if (!(localShare >= 0 && localShare <= 1)) {
      throw new IllegalArgumentException("localShare must be from 0 to 1, was " + localShare);
    }
  }
}
