package io.throttlekit.tier;

import io.throttlekit.store.Grant;

/**
 * Units of one window, to be spent in this process.
 *
 * @param units from 0
 * @param windowEndMillis names their window: its end, by the clock that decides windows
 * @param lastsMillis the window had not ended so long after they were asked for, less the ms by
 *     which a clock is rounded
 * @param endsWithinMillis the window has ended so long after the answer came
 * @param left units that were still there for others; {@link #UNKNOWN} when nobody said
 */
public record LeasedUnits(
    long units, long windowEndMillis, long lastsMillis, long endsWithinMillis, long left) {

  /** Nobody said how many units are left. */
  public static final long UNKNOWN = -1;

  /** Some of them; others still have the rest. */
  public LeasedUnits ofWhich(long some) {
    long others = left == UNKNOWN ? UNKNOWN : left + units - some;
    return new LeasedUnits(some, windowEndMillis, lastsMillis, endsWithinMillis, others);
  }

  /** Whether they are of a store whose clock does not decide windows. */
  boolean isOfEscrow() {
    return left == UNKNOWN;
  }

  /** Those of a grant, whose clock is the one that decides windows. */
  public static LeasedUnits of(Grant grant) {
    long millis = grant.windowEndMillis() - grant.storeNowMillis();
    return new LeasedUnits(grant.units(), grant.windowEndMillis(), millis, millis, grant.left());
  }
}
