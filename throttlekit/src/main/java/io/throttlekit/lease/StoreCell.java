package io.throttlekit.lease;

import static io.throttlekit.MonotonicSpan.NANOS_PER_MILLI;

import io.throttlekit.Cost;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.lease.AcquireResult.Kind;
import io.throttlekit.lease.LeaseWaiter.End;
import io.throttlekit.lease.sizing.LeaseSizer;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import org.jspecify.annotations.Nullable;

/*
 * When credits expire. A grant reports the store's clock and the end of its window. This process
 * knows when it sent the request and when the answer arrived, by its own monotonic clock; the store
 * read its clock in between. So the window does not end before
 *
 *   sent + (windowEnd − storeNow)         credits are valid until then, less a margin for the rates
 *                                         of the two clocks and the store's rounding
 *
 * and has certainly ended at
 *
 *   answered + (windowEnd − storeNow)     an exhausted store gets no further request before
 *
 * No wall clock of this process is read, so a wrong one does no harm. Between the two times no
 * lease could still be spent; the store decides each charge then.
 */

/**
 * Units leased from the store of a region. At the end of a window, a charge that finds no units is
 * decided by the store itself.
 */
public final class StoreCell extends LeaseCell {
  private static final long UNKNOWN = Long.MIN_VALUE; // before the first grant

  private final Tier.Leased options;
  private final LeaseSizer sizer;
  private final boolean learns;

  /** Demand of the current window, admitted or not, and from before the store's clock was known. */
  private long offered;

  /** The end of that window by the store's clock, aligned to the epoch as the store's windows. */
  private long demandEndMillis = UNKNOWN;

  private long credits;
  private long creditsEndNanos;

  /** The units that the store had left at its last answer. */
  private long leftAtStore;

  /**
   * The window of the last grant, by the store's clock. It may be older than the one before if
   * another store with a slower clock has taken over.
   */
  private long windowEndMillis = UNKNOWN;

  private long windowEndNanos;

  /** Whether the window of the last grant is still current, as far as this process knows. */
  private boolean windowLasts;

  /** Whether the store reported that nothing is left. */
  private boolean exhausted;

  /** When an exhausted store gets the next request: units may have been returned to it. */
  private long retryNanos;

  /** Grants of this window without units, since the last one with some. */
  private int refusals;

  /** The last requested size, without what only a larger cost required. */
  private long batch;

  StoreCell(Charge charge, Tier.Leased options, LeaseSizer sizer, long now) {
    super(charge, options, now);
    this.options = options;
    this.sizer = sizer;
    this.learns = sizer.learns();
    this.creditsEndNanos = now;
  }

  @Override
  synchronized AcquireResult tryAcquire(FixedWindow newest, long cost, boolean first, long now) {
    if (retired) {
      return new AcquireResult(this, Kind.RETIRED);
    }
    use(now);
    roll(now);
    if (first) {
      offer(cost, now);
    }
    // A reload changed the limit: a larger one may have units left.
    if (newest.limit() != window.limit()) {
      window = newest;
      exhausted = false;
    }
    if (credits >= cost) {
      credits -= cost;
      // A reload may lower the limit.
      long remaining = Math.min(ownLimit(), credits + leftAtStore);
      Decision admission = Decision.admit(ownLimit(), remaining, resetAfter(now));
      return new AcquireResult(this, Kind.TAKEN, admission, windowEndMillis, false);
    }
    if (exhausted || cost > window.limit()) {
      long wait = Math.max(1, resetAfter(now));
      long retry = cost > window.limit() ? Decision.NEVER : wait;
      Decision refusal = Decision.refuse(ownLimit(), credits, wait, retry);
      return new AcquireResult(this, Kind.REFUSED, refusal, windowEndMillis, false);
    }
    return new AcquireResult(this, isTooLateToLease(now) ? Kind.STRICT : Kind.SHORT);
  }

  @Override
  public synchronized @Nullable LeaseRequest refill(long cost, DataLoss onDataLoss, long now) {
    if (leasing || retired || exhausted || (cost == 0 && !isLow(now))) {
      return null;
    }
    leasing = true;
    long lacking = Math.max(0, cost - credits);
    offer(0, now);
    // Units that wait may have been counted as demand of the previous window.
    long before = knowsStoreClock() ? Math.max(0, offered - lacking) : 0;
    long units = Math.clamp(Math.max(lacking, sizer.size(before, most())), 1, limit());
    return request(onDataLoss, LeaseRequest.CURRENT, units, units, units);
  }

  /** Returns whether units should be leased ahead of need. */
  synchronized boolean isLow(long now) {
    return options.lowWater() > 0
        && credits <= options.lowWater()
        && !leasing
        && !exhausted
        && now - creditsEndNanos < 0; // else the store decides until the window has ended
  }

  /**
   * Returns whether the window ends so soon that units leased now would expire on arrival, and the
   * store decides.
   */
  public synchronized boolean isTooLateToLease(long now) {
    return windowLasts && now - creditsEndNanos >= 0;
  }

  @Override
  public synchronized Completed complete(
      long wanted, LeaseGrant grant, long sentNanos, long answeredNanos) {
    batch = Math.min(wanted, sizer.size(0, most()));
    long unspendable = credit(grant, false, sentNanos, answeredNanos);
    return completed(unspendable > 0 && !retired ? End.LATE : End.CREDITED, unspendable);
  }

  @Override
  public synchronized long credit(
      LeaseGrant grant, boolean ahead, long sentNanos, long answeredNanos) {
    roll(answeredNanos);
    learnWindow(grant, sentNanos, answeredNanos);
    learnLimit(grant);
    leftAtStore = grant.left();
    exhausted = grant.left() == 0 || grant.units() == 0;
    // expired on arrival; carried units must have arrived in time
    if (retired || answeredNanos - creditsEndNanos >= 0) {
      return grant.units();
    }
    credits += grant.units();
    return 0;
  }

  private void learnWindow(LeaseGrant grant, long sentNanos, long answeredNanos) {
    long nanos = MonotonicSpan.nanos(Math.max(0, grant.lastsMillis()));
    long creditsEnd = sentNanos + nanos - ROUNDING_NANOS - MonotonicSpan.drift(nanos);
    long windowEnd = answeredNanos + nanos;
    // Another answer for the same window only narrows its end.
    if (grant.windowEndMillis() == windowEndMillis && windowLasts) {
      creditsEndNanos += Math.max(0, creditsEnd - creditsEndNanos);
      windowEndNanos += Math.min(0, windowEnd - windowEndNanos);
    } else {
      // A new window: of the old one's units only the carried ones survive.
      forfeitBeyond(carried());
      windowEndMillis = grant.windowEndMillis();
      creditsEndNanos = creditsEnd;
      windowEndNanos = windowEnd;
      windowLasts = true;
      refusals = 0;
    }
    offer(0, answeredNanos);
    // Without idle returns no units come back before the window ends.
    refusals = grant.units() == 0 ? refusals + 1 : 0;
    retryNanos =
        idle.isNever()
            ? windowEndNanos
            : answeredNanos + Math.min(idle.retryNanos(refusals), nanos);
  }

  @Override
  public synchronized boolean putBack(long units, long takenWindowEndMillis) {
    if (retired || windowEndMillis != takenWindowEndMillis) {
      return false;
    }
    credits += units;
    return true;
  }

  @Override
  public synchronized void reopen() {
    exhausted = false;
  }

  /**
   * Counts demand, after the sizer has observed that of a window that has ended. Windows end by the
   * clock alone, so a counter without grants, or one that was idle for a million windows, costs
   * nothing extra. A clock that runs backwards stays in the newest window seen.
   */
  private void offer(long units, long now) {
    if (!learns) {
      return;
    }
    if (knowsStoreClock() && storeMillis(now) >= demandEndMillis) {
      if (demandEndMillis != UNKNOWN && offered > 0) {
        sizer.observe(offered, most());
        offered = 0;
      }
      demandEndMillis = window.endMillis(storeMillis(now));
    }
    offered = Math.min(Cost.MAX, offered + units); // saturates
  }

  /** Returns whether a grant has reported the store's clock. */
  private boolean knowsStoreClock() {
    return windowEndMillis != UNKNOWN;
  }

  /** Returns an estimate of the store's clock. */
  private long storeMillis(long now) {
    return windowEndMillis + Math.floorDiv(now - windowEndNanos, NANOS_PER_MILLI);
  }

  @Override
  public synchronized String toString() {
    return "credits %d until %d, window until %d (%d, %s), %d left, %s, retry at %d, batch %d, %s%s"
        .formatted(
            credits,
            creditsEndNanos,
            windowEndMillis,
            windowEndNanos,
            windowLasts ? "lasting" : "over",
            leftAtStore,
            exhausted ? "exhausted" : "open",
            retryNanos,
            batch,
            leasing ? "leasing for " + waiting() : "",
            retired ? " retired" : "");
  }

  @Override
  boolean hasUnits() {
    return credits > 0;
  }

  @Override
  Leftover takeAll() {
    Leftover all = new Leftover(credits, windowEndMillis);
    credits = 0;
    return all;
  }

  /**
   * Returns how many units outlive their window. A node that leases on demand and serves the
   * waiting requests has less than a batch left; if those have timed out, it may have a whole
   * batch. A tenant's units never do: there is no bound on the tenants that could have some.
   * Policies reject such rules; in the library, options may have both.
   */
  private long carried() {
    boolean coupled = options.windowCoupled() || isShared();
    return coupled ? 0 : Math.max(0, batch - 1); // 0 before a grant
  }

  private void forfeitBeyond(long kept) {
    if (credits > kept) {
      forfeit(credits - kept);
      credits = kept;
    }
  }

  /** Returns the ms until the window has certainly ended, rounded up for retry times. */
  private long resetAfter(long now) {
    return windowLasts ? Math.max(0, Math.ceilDiv(windowEndNanos - now, NANOS_PER_MILLI)) : 0;
  }

  @Override
  void roll(long now) {
    if (now - creditsEndNanos >= 0) {
      // Repeated calls are harmless: what is carried stays.
      forfeitBeyond(carried());
    }
    if (windowLasts && now - windowEndNanos >= 0) {
      windowLasts = false;
      exhausted = false;
      leftAtStore = 0;
    }
    if (exhausted && now - retryNanos >= 0) {
      exhausted = false;
    }
  }
}
