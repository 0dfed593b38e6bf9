package io.throttlekit.lease.sizing;

/**
 * Counts the demand of this node's requests for one counter, window by window, and trains a {@link
 * LeaseSizer} with each window that has ended.
 *
 * <p>Windows are closed by the clock readings passed in, not by grants or admitted requests, so a
 * counter without any grant, or one that was idle for a million windows, costs nothing extra.
 * Windows are aligned to the epoch, as those of {@link io.throttlekit.rate.FixedWindow} are. A
 * clock that runs backwards stays in the newest window seen.
 *
 * <p>Not thread-safe, like its sizer.
 */
public final class DemandWindow {
  private final LeaseSizer sizer;
  private final long lengthMillis;
  private long endMillis = Long.MIN_VALUE;
  private long offered;

  /**
   * Creates a window without demand.
   *
   * @param lengthMillis length of a window, from 1
   */
  public DemandWindow(LeaseSizer sizer, long lengthMillis) {
    this.sizer = sizer;
    this.lengthMillis = lengthMillis;
  }

  /**
   * Counts the demand of a request, whether it is admitted or not.
   *
   * @param units from 0
   * @param limit of the window, from 1
   * @param nowMillis by the clock that decides windows, in ms since the epoch
   */
  public void offer(long units, long limit, long nowMillis) {
    roll(limit, nowMillis);
    offered = units > Long.MAX_VALUE - offered ? Long.MAX_VALUE : offered + units; // saturates
  }

  /**
   * Returns how many units to lease.
   *
   * @param wanted units that requests wait for, already counted by {@link #offer}; 0 for a lease
   *     ahead of need
   * @param limit of the window, from 1
   * @param nowMillis by the clock that decides windows, in ms since the epoch
   * @return at least {@code wanted} and 1, at most {@code limit}
   */
  public long size(long wanted, long limit, long nowMillis) {
    roll(limit, nowMillis);
    // Units that wait may have been counted as demand of the previous window.
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
