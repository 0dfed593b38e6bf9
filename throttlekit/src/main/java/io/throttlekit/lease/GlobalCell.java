package io.throttlekit.lease;

import io.throttlekit.Cost;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.lease.AcquireResult.Kind;
import io.throttlekit.lease.LeaseWaiter.End;
import io.throttlekit.lease.sizing.LeaseSizer;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * Units of a limit that all regions share. Units expire with their window, so at most the limit is
 * admitted per window, by any number of cells.
 *
 * <p>While a window is certainly current, its own units are spent. Near its end, when the next
 * window may already have begun, a cost is taken from both windows: neither can admit more than its
 * limit, and no request waits for certainty. A window that follows one with demand is leased before
 * it begins.
 *
 * <p>The limit of a cell never changes: another limit is different terms, with a cell of its own.
 */
public final class GlobalCell extends LeaseCell {
  private final DataLoss onDataLoss;
  private final LeaseSizer sizer;
  private final WindowClock clock;
  private final Pace pace;
  private final LeadTime lead;
  private WindowUnits current = new WindowUnits();
  private WindowUnits next = new WindowUnits();

  /** Whether a lease ahead for the next window is in flight. */
  private boolean leasingAhead;

  /** The window, by its end, for which {@link #nanosToNextLease} has returned a time already. */
  private long scheduledMillis = Long.MIN_VALUE;

  /** Whether the lease in flight is for the next window. */
  private boolean leasingNext;

  /** Units that requests lacked after the last lease ended; at most the limit. */
  private long lacked;

  /** The part of {@link #lacked} that the last grant did not cover. */
  private long unmet;

  GlobalCell(Charge charge, Tier.Global tier, LeaseSizer sizer, long now) {
    super(charge, tier, now);
    this.onDataLoss = tier.onDataLoss();
    this.sizer = sizer;
    this.clock = new WindowClock(window);
    this.pace = new Pace(clock.lengthNanos());
    this.lead = new LeadTime(clock.lengthNanos(), key.lowHash());
  }

  @Override
  synchronized AcquireResult tryAcquire(FixedWindow newest, long cost, boolean first, long now) {
    if (retired) {
      return new AcquireResult(this, Kind.RETIRED);
    }
    roll(now);
    if (cost < 0) {
      // Only the first attempt refunds: a refund is not idempotent. Units of an ended window are
      // worth nothing.
      current.refund(first ? -cost : 0);
      return taken(false, now);
    }
    use(now);
    if (cost > window.limit()) {
      return refusal(Decision.NEVER, now);
    }
    if (first) {
      pace.offer(cost, now);
    }
    if (covers(cost, now)) {
      return spend(cost, now);
    }
    long wait = millisToLeasable(cost, now);
    if (wait > 0) {
      return refusal(wait, now);
    }
    lacked = Math.min(window.limit(), lacked + cost); // bounded: no lease is larger
    return AcquireResult.lacking(this);
  }

  /** Returns whether units should be leased ahead of need. */
  synchronized boolean isLow(long now) {
    boolean ofNext = clock.mayBeOver(now);
    WindowUnits of = ofNext ? next : current;
    if (leasing || retired || !clock.isKnown() || of.isExhausted(now) || (ofNext && leasingAhead)) {
      return false;
    }
    // The lease must arrive before the units run out, even if it takes two round trips.
    long mark = Math.max(tier().lowWater(), pace.within(2 * lead.roundTripNanos(), now));
    return of.units() <= mark;
  }

  @Override
  public synchronized @Nullable LeaseRequest refill(long cost, DataLoss onDataLoss, long now) {
    roll(now);
    if (leasing || retired || current.isExhausted(now) || (cost == 0 && !isLow(now))) {
      return null;
    }
    // The current window has enough but may be over: the missing units are those of the next one.
    boolean ofNext = current.units() >= Math.max(1, cost) && clock.mayBeOver(now);
    WindowUnits of = ofNext ? next : current;
    if (of.isExhausted(now)) {
      return null;
    }
    // The largest of this cost, what the last grant did not cover, and what requests lacked since.
    long lacking = Math.max(Math.max(cost, unmet), lacked) - of.units();
    long toCome = toCome(now);
    long usable =
        ofNext
            ? Math.max(lacking, pace.ofWholeWindow(toCome) - next.units())
            : usable(Math.max(0, lacking), toCome);
    // Without a known pace, only a low-water mark justifies a lease that no request waits for.
    if (cost == 0 && (usable <= 0 || (toCome == Pace.UNKNOWN && tier().lowWater() == 0))) {
      return null;
    }
    leasing = true;
    leasingNext = ofNext;
    unmet = 0;
    // The waiting cost has been counted as demand, but the lease is for it.
    long size = sizer.size(ofNext ? 0 : Math.max(0, pace.offered() - cost), most());
    long units = Math.clamp(Math.max(lacking, Math.min(size, usable)), 1, limit());
    long end = ofNext ? clock.nextEndMillis() : LeaseRequest.CURRENT;
    return request(onDataLoss, end, units, size, Math.max(units, usable));
  }

  /**
   * Returns how many more units requests will want, including the {@code lacking} ones that
   * requests wait for; at most the limit, or what a tenant may take.
   */
  private long usable(long lacking, long toCome) {
    if (toCome == Pace.UNKNOWN) {
      return most();
    }
    long spare = lacking > 0 ? 0 : current.units(); // else they are reserved for those that wait
    long coming = Math.min(toCome, Cost.MAX); // the sums below cannot overflow
    return Math.clamp(lacking + coming - spare, 0, most());
  }

  private long toCome(long now) {
    return clock.isKnown()
        ? pace.toCome(now, clock.lastsUntilNanos(), clock.overByNanos())
        : Pace.UNKNOWN;
  }

  /** Returns whether the next window is due to be leased. */
  public synchronized boolean isNextDue(long now) {
    roll(now);
    return clock.isKnown() && now - nextLeaseNanos() >= 0;
  }

  /**
   * Marks a lease of the next window as in flight and returns what to request; null when one is in
   * flight or the window has been leased.
   */
  public synchronized @Nullable LeaseRequest refillNext(long now) {
    roll(now);
    // Else the next window is leased when a request needs it. Idle units would be returned at once.
    if (!clock.isKnown()
        || retired
        || leasingAhead
        || next.isGranted()
        || pace.offered() == 0
        || isIdle(now)) {
      return null;
    }
    leasingAhead = true;
    long wanted = Math.min(sizer.size(0, most()), pace.ofWholeWindow(toCome(now)));
    long units = Math.clamp(wanted, 1, limit());
    return request(onDataLoss, clock.nextEndMillis(), units, units, units);
  }

  /**
   * Returns in how many ns the next window should be leased, once for each window.
   *
   * @return from 1; 0 when no timer is needed
   */
  public synchronized long nanosToNextLease(long now) {
    long of = next.isGranted() ? clock.nextEndMillis() : clock.endMillis();
    if (!clock.isKnown() || retired || of == scheduledMillis) {
      return 0;
    }
    scheduledMillis = of;
    long at = nextLeaseNanos() + (of == clock.endMillis() ? 0 : clock.lengthNanos());
    return Math.max(1, at - now); // 0 would mean "none"
  }

  @Override
  public synchronized Completed complete(
      long wanted, LeaseGrant grant, long sentNanos, long answeredNanos) {
    WindowUnits of = credited(grant, leasingNext, sentNanos, answeredNanos);
    unmet = of == null ? unmet : Math.max(0, lacked - of.units());
    lacked = 0;
    // Retired: the waiting requests retry at the cell's successor.
    return of == null
        ? completed(retired ? End.CREDITED : End.LATE, grant.units())
        : completed(End.CREDITED, 0);
  }

  @Override
  public synchronized Completed fail() {
    lacked = 0; // the waiting requests are now decided without units
    return super.fail();
  }

  /** Ends a lease of the next window and credits the grant; returns the unspendable units. */
  public synchronized long completeNext(LeaseGrant grant, long sentNanos, long answeredNanos) {
    leasingAhead = false;
    return credit(grant, true, sentNanos, answeredNanos);
  }

  @Override
  public synchronized long credit(
      LeaseGrant grant, boolean ahead, long sentNanos, long answeredNanos) {
    return credited(grant, ahead, sentNanos, answeredNanos) == null ? grant.units() : 0;
  }

  /** Credits a grant to its window, which it returns; null when that has ended. */
  private @Nullable WindowUnits credited(
      LeaseGrant grant, boolean ahead, long sentNanos, long answeredNanos) {
    WindowUnits of = retired ? null : learn(grant, ahead, sentNanos, answeredNanos);
    if (of != null) {
      of.credit(grant);
      if (!grant.isOfEscrow()) { // an escrow does not know what is left
        of.retryAt(
            idle.isNever()
                ? clock.overByNanos() + clock.lengthNanos()
                : answeredNanos + idle.retryNanos(of.refusals()));
      }
      learnLimit(grant);
    }
    return of;
  }

  /** Ends a lease of the next window that failed. */
  public synchronized void failNext() {
    leasingAhead = false;
  }

  @Override
  public synchronized boolean putBack(long units, long takenWindowEndMillis) {
    if (retired || takenWindowEndMillis > clock.nextEndMillis()) {
      return false;
    }
    // Units taken near the end of a window may be returned when the next window is current.
    if (takenWindowEndMillis == clock.endMillis()) {
      current.putBack(units);
    } else if (takenWindowEndMillis == clock.nextEndMillis()) {
      next.putBack(units);
    } else {
      forfeit(units);
    }
    return true;
  }

  @Override
  boolean isIdle(long now) {
    return super.isIdle(now) && !leasingAhead;
  }

  @Override
  public synchronized void reopen() {
    current.reopen();
    next.reopen();
  }

  @Override
  public synchronized String toString() {
    return "%s: %s; then %s; %s; lacked %d, %d; %s; %s%s%s"
        .formatted(
            clock,
            current,
            next,
            pace,
            lacked,
            unmet,
            lead,
            leasing ? "leasing %s for %d".formatted(leasingNext, waiting()) : "",
            leasingAhead ? " and for the next" : "",
            retired ? " retired" : "");
  }

  private boolean covers(long cost, long now) {
    long needed = Math.max(1, cost); // a peek needs one unit to be admitted
    return clock.isKnown()
        && current.units() >= needed
        && (!clock.mayBeOver(now) || next.units() >= needed);
  }

  /**
   * Returns for how long, in ms from 1, the missing units cannot be leased; 0 when a lease may
   * succeed.
   */
  private long millisToLeasable(long cost, long now) {
    long needed = Math.max(1, cost);
    long toEnd = Math.max(1, clock.millisToEnd(now));
    // Both windows are needed now: an exhausted next window refuses until its own end.
    if (clock.mayBeOver(now) && next.units() < needed && next.isExhausted(now)) {
      return toEnd + window.windowMillis();
    }
    return current.isExhausted(now) ? toEnd : 0;
  }

  private AcquireResult spend(long cost, long now) {
    boolean both = clock.mayBeOver(now);
    current.spend(cost);
    if (both) {
      next.spend(cost);
    }
    return taken(both, now);
  }

  private AcquireResult taken(boolean ofNextToo, long now) {
    // Others may have used what was left.
    long remaining = Math.min(ownLimit(), current.remaining());
    Decision admission = Decision.admit(ownLimit(), remaining, clock.millisToEnd(now));
    return new AcquireResult(this, Kind.TAKEN, admission, clock.endMillis(), ofNextToo);
  }

  private AcquireResult refusal(long retryMillis, long now) {
    long wait = Math.max(1, clock.millisToEnd(now));
    Decision refusal = Decision.refuse(ownLimit(), current.units(), wait, retryMillis);
    return new AcquireResult(this, Kind.REFUSED, refusal, clock.endMillis(), false);
  }

  /** Returns when to lease the next window ahead. */
  private long nextLeaseNanos() {
    return clock.lastsUntilNanos() - lead.nanos();
  }

  @Override
  boolean hasUnits() {
    return !leasingAhead && current.units() + next.units() > 0;
  }

  @Override
  Leftover takeAll() {
    return new Leftover(current.takeAll(), clock.endMillis(), next.takeAll());
  }

  /**
   * Updates the window clock from an answer.
   *
   * @param ahead whether the lease was for the next window, which need not have begun
   * @return the window that the units belong to; null when it has ended
   */
  private @Nullable WindowUnits learn(LeaseGrant grant, boolean ahead, long sent, long answered) {
    roll(answered);
    // An escrow's clock may be stepped, so its answers never move a window.
    if (grant.isOfEscrow() && clock.isKnown()) {
      return unitsOf(grant.windowEndMillis());
    }
    lead.answeredAfter(answered - sent);
    advance(clock.follow(grant, ahead, sent, answered));
    if (grant.windowEndMillis() < clock.endMillis()) {
      return null;
    }
    clock.narrow(grant, sent, answered);
    WindowUnits of = grant.windowEndMillis() == clock.endMillis() ? current : next;
    roll(answered); // narrow() may show that the window has ended
    return grant.windowEndMillis() < clock.endMillis() ? null : of;
  }

  private @Nullable WindowUnits unitsOf(long endMillis) {
    return endMillis == clock.endMillis()
        ? current
        : endMillis == clock.nextEndMillis() ? next : null;
  }

  @Override
  void roll(long now) {
    advance(clock.roll(now));
  }

  /** Moves on by {@code windows} ended windows: the next becomes the current one. */
  private void advance(long windows) {
    if (windows == 0) {
      return;
    }
    forfeit(current.takeAll());
    if (windows > 1) {
      forfeit(next.takeAll());
    }
    current = windows > 1 ? new WindowUnits() : next;
    next = new WindowUnits();
    unmet = 0;
    if (pace.offered() > 0) {
      sizer.observe(pace.offered(), most());
    }
    pace.roll(windows, clock.overByNanos() - clock.lengthNanos());
  }
}
