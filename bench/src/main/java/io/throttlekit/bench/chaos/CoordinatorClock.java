package io.throttlekit.bench.chaos;

/**
 * The clock of a coordinator that is stepped forward, as far as it can be known from this host.
 *
 * <p>After a step, units that were leased by the old clock may still be spent, until the windows
 * that can have been leased then have ended: until then a request may belong to a window by either
 * clock. Thread-safe; {@link #step} for one thread.
 */
final class CoordinatorClock {
  private static final int WINDOWS_LEASED = 2;

  private final long windowMillis;
  private volatile Offset offset = new Offset(0, 0, Long.MIN_VALUE);

  private record Offset(long beforeMillis, long nowMillis, long untilMillis) {}

  CoordinatorClock(long windowMillis) {
    this.windowMillis = windowMillis;
  }

  /**
   * Notes a step; to be called before it happens.
   *
   * @param hostMillis the clock of this host now
   * @param byMillis from 0
   * @return how far it is ahead of this host in all
   */
  long step(long hostMillis, long byMillis) {
    long before = offset.nowMillis;
    long now = before + byMillis;
    offset = new Offset(before, now, hostMillis + WINDOWS_LEASED * windowMillis);
    return now;
  }

  /** The earliest time that leases know it by at {@code hostMillis}. */
  long earliest(long hostMillis) {
    Offset known = offset;
    return hostMillis + (hostMillis < known.untilMillis ? known.beforeMillis : known.nowMillis);
  }

  /** The latest time that it may show at {@code hostMillis}. */
  long latest(long hostMillis) {
    return hostMillis + offset.nowMillis;
  }
}
