package io.throttlekit.steering;

import static io.throttlekit.steering.SteeringExchange.LEASE_MILLIS;
import static io.throttlekit.steering.SteeringExchange.RENEW_MILLIS;

import io.throttlekit.steering.SteeringExchange.Visit;

/**
 * The lease of the replica that steers, by the rules of {@link SteeringExchange}.
 *
 * @param epoch of this lease, and of the last one if there is none; 0 before the first
 * @param replica id of the holder; empty if there is none
 * @param incarnation of the holder; 0 if there is none
 * @param untilMillis its end, by the exchange's clock
 */
public record SteeringLease(long epoch, String replica, long incarnation, long untilMillis) {
  /** Before the first visit. */
  public static final SteeringLease NONE = new SteeringLease(0, "", 0, 0);

  /**
   * The longest time to the end of a lease, in ms. With more, the clock has stepped back, and no
   * other replica would steer for as long as it stepped.
   */
  public static final long MAX_LEFT_MILLIS = 2 * LEASE_MILLIS;

  /** Returns whether the visiting process had this lease last. */
  public boolean isOf(Visit visit) {
    return replica.equals(visit.replica()) && incarnation == visit.incarnation();
  }

  /** Returns whether the lease has a holder and has not ended. */
  public boolean isHeld(long nowMillis) {
    long left = untilMillis - nowMillis;
    return !replica.isEmpty() && left >= 0 && left <= MAX_LEFT_MILLIS;
  }

  /** Returns the id of the holder; empty if the lease has ended. */
  public String holder(long nowMillis) {
    return isHeld(nowMillis) ? replica : "";
  }

  /**
   * Returns the lease after a visit: renewed, taken or given up. Returns this one if it stays as it
   * is.
   *
   * @param recordEpoch epoch of the current record; 0 if there is none
   * @param recordVersion its version; 0 if there is none
   * @param nowMillis the exchange's clock
   * @param epochMillis the time in ms since 1970, for the epoch of a new lease
   */
  public SteeringLease after(
      Visit visit, long recordEpoch, long recordVersion, long nowMillis, long epochMillis) {
    boolean own = isOf(visit);
    if (visit.leaving()) {
      return own ? new SteeringLease(epoch, "", 0, 0) : this;
    }
    long until = nowMillis + LEASE_MILLIS;
    boolean lost = isLost(visit, recordEpoch, recordVersion);
    if (own && !lost) {
      // the absolute value, because the clock may have stepped back
      boolean due = Math.abs(until - untilMillis) >= RENEW_MILLIS;
      return due ? new SteeringLease(epoch, replica, incarnation, until) : this;
    }
    if (isHeld(nowMillis) && !lost) {
      return this;
    }
    // not below the clock, so that no epoch is used again after a loss of the data
    long next = Math.max(Math.max(epoch, visit.knownEpoch()) + 1, epochMillis);
    return new SteeringLease(next, visit.replica(), visit.incarnation(), until);
  }

  /**
   * Returns whether the visitor knows a record that the exchange has lost, as after the promotion
   * of a server that lagged. Replicas ignore records that are older than those they know, so only a
   * new epoch lets all of them continue from one record.
   */
  private boolean isLost(Visit visit, long recordEpoch, long recordVersion) {
    // Of a record of this epoch only the holder decides: others would take the lease in turns.
    return visit.knownEpoch() > epoch
        || (isOf(visit)
            && visit.knownEpoch() == epoch
            && (recordEpoch < epoch || recordVersion < visit.knownVersion()));
  }
}
