package io.throttlekit.tier;

/**
 * Counts what requests of one node want of one counter, window by window, and lets a {@link
 * LeaseSizer} learn from each window that is over.
 *
 * <p>The clock that it is told closes a window, not a grant and not a request that is admitted: a
 * counter that was granted nothing, or that nobody asked for in a million windows, is as ready as
 * any other, at no cost. Windows are aligned to the epoch as those of a fixed window are. Time that
 * runs backwards stays in the newest window seen.
 *
 * <p>Not thread-safe, as its sizer.
 */
final class DemandWindow {
  private final LeaseSizer sizer;
  private final long lengthMillis;
  private long endMillis = Long.MIN_VALUE;
  private long offered;

  /**
   * Nothing has been wanted yet.
   *
   * @param lengthMillis of a window, from 1
   */
  DemandWindow(LeaseSizer sizer, long lengthMillis) {
    this.sizer = sizer;
    this.lengthMillis = lengthMillis;
  }

  /**
   * A request wants units; whether it gets them does not matter.
   *
   * @param units from 0
   * @param limit of the window, from 1
   * @param nowMillis by the clock that decides windows, in ms since the epoch
   */
  void offer(long units, long limit, long nowMillis) {
    roll(limit, nowMillis);
    offered = units > Long.MAX_VALUE - offered ? Long.MAX_VALUE : offered + units;
  }

  /**
   * How many units to ask the store for.
   *
   * @param wanted units that wait for them and have been offered already; 0 to ask ahead of need
   * @param limit of the window, from 1
   * @param nowMillis by the clock that decides windows, in ms since the epoch
   * @return from {@code wanted}, and from 1, to {@code limit}
   */
  long size(long wanted, long limit, long nowMillis) {
    roll(limit, nowMillis);
    long size = sizer.size(Math.max(0, offered - wanted), limit);
    return Math.max(1, Math.min(limit, Math.max(size, wanted)));
  }

  private void roll(long limit, long nowMillis) {
    if (nowMillis < endMillis) {
      return;
    }
    if (offered > 0) {
      sizer.observe(offered, limit);
      offered = 0;
    }
    endMillis = nowMillis - Math.floorMod(nowMillis, lengthMillis) + lengthMillis;
  }
}
