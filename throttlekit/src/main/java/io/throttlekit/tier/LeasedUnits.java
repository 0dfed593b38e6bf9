package io.throttlekit.tier;

import io.throttlekit.store.Grant;

/**
 * Leased units of one window, to be spent in this process.
 *
 * @param units from 0
 * @param windowEndMillis the window, named by its end, by the clock that decides windows
 * @param lastsMillis the window has not ended before this time after the request was sent, less the
 *     rounding of a clock to ms
 * @param endsWithinMillis the window has ended by this time after the answer arrived
 * @param left units that were still left for other processes; {@link #UNKNOWN} when not reported
 */
public record LeasedUnits(
    long units, long windowEndMillis, long lastsMillis, long endsWithinMillis, long left) {

  /** The number of units left was not reported. */
  public static final long UNKNOWN = -1;

  /** Returns a part of these units; the rest counts as left for others. */
  public LeasedUnits ofWhich(long some) {
    long others = left == UNKNOWN ? UNKNOWN : left + units - some;
    return new LeasedUnits(some, windowEndMillis, lastsMillis, endsWithinMillis, others);
  }

  /** Returns whether they come from an escrow, whose clock does not decide windows. */
  boolean isOfEscrow() {
    return left == UNKNOWN;
  }

  /** Returns the units of a grant, whose clock is the one that decides windows. */
  public static LeasedUnits of(Grant grant) {
    long millis = grant.windowEndMillis() - grant.storeNowMillis();
    return new LeasedUnits(grant.units(), grant.windowEndMillis(), millis, millis, grant.left());
  }
}
