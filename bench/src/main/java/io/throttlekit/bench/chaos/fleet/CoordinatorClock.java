package io.throttlekit.bench.chaos.fleet;

/**
 * Clock of a coordinator that is stepped forward, as far as this host can know it.
 *
 * <p>After a step, units leased before it may still be spent, until the windows that can have been
 * leased then have ended. Until then a request may belong to a window by either clock. Thread-safe;
 * {@link #step} for one thread.
 */
public final class CoordinatorClock {
  // The current window, and the next one when it is prefetched.
  private static final int WINDOWS_LEASED = 2;

  private final long windowMillis;
  private volatile Offset offset = new Offset(0, 0, Long.MIN_VALUE);

  private record Offset(long beforeMillis, long nowMillis, long untilMillis) {}

  public CoordinatorClock(long windowMillis) {
    this.windowMillis = windowMillis;
  }

  /**
   * Records a step; to be called before it happens.
   *
   * @param hostMillis the clock of this host now
   * @param byMillis from 0
   * @return its total offset to this host's clock
   */
  public long step(long hostMillis, long byMillis) {
    long before = offset.nowMillis;
    long now = before + byMillis;
    offset = new Offset(before, now, hostMillis + WINDOWS_LEASED * windowMillis);
    return now;
  }

  /**
   * Returns the earliest time of the coordinator that leases may be based on at {@code hostMillis}.
   */
  public long earliest(long hostMillis) {
    Offset known = offset;
    return hostMillis + (hostMillis < known.untilMillis ? known.beforeMillis : known.nowMillis);
  }

  /** Returns the latest time that the coordinator may have at {@code hostMillis}. */
  public long latest(long hostMillis) {
    return hostMillis + offset.nowMillis;
  }
}
