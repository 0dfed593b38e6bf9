package io.throttlekit.tier;

import static io.throttlekit.MonotonicSpan.NANOS_PER_MILLI;

import io.throttlekit.ClockDrift;
import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.tier.LeaseWaiter.End;
import io.throttlekit.tier.Take.Kind;

/*
 * When credits end. The store says, with a grant, what its clock was and when its window ends. This
 * process knows when it asked and when it was answered, by a monotonic clock of its own; the store
 * read its clock somewhere between. So the window has not ended before
 *
 *   asked + (windowEnd − storeNow)        the credits are good until then, less a margin for the
 *                                         rates of the two clocks and the store's rounding
 *
 * and has ended for certain at
 *
 *   answered + (windowEnd − storeNow)     nobody asks again before, once nothing was left
 *
 * No wall clock of this process is read, so none can be wrong. Between the two times nothing can be
 * leased that could still be spent; charges go to the store by themselves then.
 */

/**
 * Units leased from the store of a region. What has no unit left at the end of a window is decided
 * by the store itself.
 */
final class StoreCell extends LeaseCell {
  private final Tier.Leased options;
  private final LeaseSizer sizer;
  private final boolean learns;
  private final DemandWindow demand;

  /** Wanted before the store's clock was known. */
  private long earlyDemand;

  private long credits;
  private long creditsEndNanos;

  /** What the store had left when it was asked last. */
  private long leftAtStore;

  /**
   * By the store's clock; the window that the last grant was for. It may be an older one than
   * before, when another store with a slower clock has taken over.
   */
  private long windowEndMillis = Long.MIN_VALUE;

  private long windowEndNanos;

  /** Whether the window that a grant was for lasts, as far as this process knows. */
  private boolean windowLasts;

  /** Whether the store had nothing left. */
  private boolean exhausted;

  private long askAgainNanos;

  /** What was asked for last, without what only a larger cost wanted. */
  private long batch;

  StoreCell(CounterKey key, FixedWindow window, Tier.Leased options, LeaseSizer sizer, long now) {
    super(key, window, options, now);
    this.options = options;
    this.sizer = sizer;
    this.learns = sizer.learns();
    this.demand = new DemandWindow(sizer, window.windowMillis());
    this.creditsEndNanos = now;
  }

  @Override
  synchronized Take take(FixedWindow newest, long cost, boolean first, long now) {
    if (retired) {
      return Take.RETIRED;
    }
    lastUsedNanos = now;
    roll(now);
    if (first) {
      offer(cost, now);
    }
    if (newest.limit() != window.limit()) {
      window = newest;
      exhausted = false;
    }
    if (credits >= cost) {
      credits -= cost;
      long remaining = Math.min(window.limit(), credits + leftAtStore);
      Decision admission = Decision.admit(window.limit(), remaining, resetAfter(now));
      return new Take(Kind.TAKEN, admission, windowEndMillis);
    }
    if (exhausted || cost > window.limit()) {
      long wait = Math.max(1, resetAfter(now));
      long retry = cost > window.limit() ? Decision.NEVER : wait;
      Decision refusal = Decision.refuse(window.limit(), credits, wait, retry);
      return new Take(Kind.REFUSED, refusal, windowEndMillis);
    }
    return windowLasts && now - creditsEndNanos >= 0 ? Take.STRICT : Take.SHORT;
  }

  @Override
  Take refund(long units, long now) {
    return Take.STRICT; // the store knows what was spent
  }

  @Override
  synchronized Take takeAtOnce(FixedWindow newest, long cost, long now) {
    roll(now);
    boolean decides = credits >= cost || (exhausted && newest.limit() == window.limit());
    return decides ? take(newest, cost, true, now) : Take.SHORT;
  }

  @Override
  synchronized boolean isLow(long now) {
    return options.lowWater() > 0
        && credits <= options.lowWater()
        && !leasing
        && !exhausted
        && now - creditsEndNanos < 0;
  }

  @Override
  synchronized UnitsWanted beginLease(long cost, long now) {
    if (leasing || retired || exhausted) {
      return UnitsWanted.NONE;
    }
    leasing = true;
    long lacking = Math.max(0, cost - credits);
    long limit = Math.max(1, window.limit());
    return UnitsWanted.of(
        knowsStoreClock()
            ? demand.size(lacking, limit, storeMillis(now))
            : Math.clamp(Math.max(lacking, sizer.size(0, limit)), 1, limit));
  }

  @Override
  synchronized Completed complete(
      long wanted, LeasedUnits grant, long askedNanos, long answeredNanos) {
    batch = Math.min(wanted, sizer.size(0, Math.max(1, window.limit())));
    long unspendable = credit(grant, false, askedNanos, answeredNanos);
    return completed(unspendable > 0 && !retired ? End.LATE : End.CREDITED, unspendable);
  }

  @Override
  synchronized long credit(LeasedUnits grant, boolean ahead, long askedNanos, long answeredNanos) {
    roll(answeredNanos);
    learnWindow(grant, askedNanos, answeredNanos);
    leftAtStore = grant.left();
    exhausted = grant.left() == 0 || grant.units() == 0;
    if (retired || answeredNanos - creditsEndNanos >= 0) { // carried over is what was there in time
      return grant.units();
    }
    credits += grant.units();
    return 0;
  }

  private void learnWindow(LeasedUnits grant, long askedNanos, long answeredNanos) {
    long nanos = MonotonicSpan.nanos(Math.max(0, grant.lastsMillis()));
    long creditsEnd = askedNanos + nanos - ROUNDING_NANOS - ClockDrift.after(nanos);
    long windowEnd = answeredNanos + nanos;
    if (grant.windowEndMillis() == windowEndMillis && windowLasts) {
      creditsEndNanos += Math.max(0, creditsEnd - creditsEndNanos);
      windowEndNanos += Math.min(0, windowEnd - windowEndNanos);
    } else {
      forfeitBeyond(carried());
      windowEndMillis = grant.windowEndMillis();
      creditsEndNanos = creditsEnd;
      windowEndNanos = windowEnd;
      windowLasts = true;
    }
    offer(0, answeredNanos);
    askAgainNanos =
        idleNanos() == 0 ? windowEndNanos : answeredNanos + Math.min(idleNanos(), nanos);
  }

  @Override
  synchronized boolean putBack(long units, long takenWindowEndMillis) {
    if (retired || windowEndMillis != takenWindowEndMillis) {
      return false;
    }
    credits += units;
    return true;
  }

  @Override
  synchronized Leftover takeIdle(long now) {
    roll(now);
    return isIdle(now) ? takeAll() : new Leftover(0, windowEndMillis);
  }

  @Override
  synchronized Leftover retire(long now) {
    roll(now);
    retired = true;
    return takeAll();
  }

  @Override
  synchronized void reopen() {
    exhausted = false;
  }

  private void offer(long units, long now) {
    if (!learns) {
      return;
    }
    earlyDemand = Math.min(Cost.MAX, earlyDemand + units);
    if (knowsStoreClock()) {
      demand.offer(earlyDemand, Math.max(1, window.limit()), storeMillis(now));
      earlyDemand = 0;
    }
  }

  private boolean knowsStoreClock() {
    return windowEndMillis != Long.MIN_VALUE;
  }

  /** The store's clock, about. */
  private long storeMillis(long now) {
    return windowEndMillis + Math.floorDiv(now - windowEndNanos, NANOS_PER_MILLI);
  }

  @Override
  public synchronized String toString() {
    return "credits %d until %d, window until %d (%d, %s), %d left, %s, again %d, batch %d, %s%s"
        .formatted(
            credits,
            creditsEndNanos,
            windowEndMillis,
            windowEndNanos,
            windowLasts ? "lasting" : "over",
            leftAtStore,
            exhausted ? "exhausted" : "open",
            askAgainNanos,
            batch,
            leasing ? "leasing for " + waiting() : "",
            retired ? " retired" : "");
  }

  private Leftover takeAll() {
    Leftover all = new Leftover(credits, windowEndMillis);
    credits = 0;
    return all;
  }

  /**
   * How much outlives its window. A node that leases when it has too little and serves whoever
   * asked has less than a batch left; but who asked may have gone, and then it has a whole one.
   */
  private long carried() {
    return options.windowCoupled() ? 0 : Math.max(0, batch - 1);
  }

  private void forfeitBeyond(long kept) {
    if (credits > kept) {
      forfeit(credits - kept);
      credits = kept;
    }
  }

  private long resetAfter(long now) {
    return windowLasts ? Math.max(0, Math.ceilDiv(windowEndNanos - now, NANOS_PER_MILLI)) : 0;
  }

  private void roll(long now) {
    if (now - creditsEndNanos >= 0) {
      forfeitBeyond(carried());
    }
    if (windowLasts && now - windowEndNanos >= 0) {
      windowLasts = false;
      exhausted = false;
      leftAtStore = 0;
    }
    if (exhausted && now - askAgainNanos >= 0) {
      exhausted = false;
    }
  }
}
