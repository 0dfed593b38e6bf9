package io.throttlekit.store;

/**
 * A granted lease of units of one window.
 *
 * @param units granted, from 0 to the requested units
 * @param windowEndMillis the window, named by its end by the clock that decides windows, in ms
 *     since the epoch; the units expire then
 * @param lastsMillis the window has not ended before this time after the request was sent, less the
 *     rounding of a clock to ms
 * @param endsWithinMillis the window has ended by this time after the answer arrived
 * @param left units that are left after this grant: for others, or for the tenant that leased;
 *     {@link #UNKNOWN} from an escrow, whose clock does not decide windows
 * @param limit what the tenant that leased may take of this window in all, by what is known now;
 *     {@link #UNKNOWN} if no tenants share the counter, and where it is not reported
 */
public record LeaseGrant(
    long units,
    long windowEndMillis,
    long lastsMillis,
    long endsWithinMillis,
    long left,
    long limit) {
  /** The number was not reported. */
  public static final long UNKNOWN = -1;

  /** Creates a grant without a tenant's limit. */
  public LeaseGrant(
      long units, long windowEndMillis, long lastsMillis, long endsWithinMillis, long left) {
    this(units, windowEndMillis, lastsMillis, endsWithinMillis, left, UNKNOWN);
  }

  /**
   * Creates a grant of the store whose clock decides windows.
   *
   * @param storeNowMillis the store's clock at the time of the grant, rounded down
   */
  public LeaseGrant(long units, long windowEndMillis, long storeNowMillis, long left) {
    this(
        units,
        windowEndMillis,
        windowEndMillis - storeNowMillis,
        windowEndMillis - storeNowMillis,
        left);
  }

  /** Returns the clock at the time of the grant, of the store whose clock decides windows. */
  public long storeNowMillis() {
    return windowEndMillis - lastsMillis;
  }

  /** Returns a part of these units; the rest counts as left for others. */
  public LeaseGrant part(long some) {
    long others = left == UNKNOWN ? UNKNOWN : left + units - some;
    return new LeaseGrant(some, windowEndMillis, lastsMillis, endsWithinMillis, others, limit);
  }

  /** Returns this grant with what its tenant may take in all. */
  public LeaseGrant withLimit(long ofTenant) {
    return new LeaseGrant(units, windowEndMillis, lastsMillis, endsWithinMillis, left, ofTenant);
  }

  /** Returns whether it comes from an escrow, whose clock does not decide windows. */
  public boolean isOfEscrow() {
    return left == UNKNOWN;
  }
}
