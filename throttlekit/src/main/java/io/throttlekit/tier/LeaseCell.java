package io.throttlekit.tier;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.recent.Keyed;
import io.throttlekit.store.Grant;
import io.throttlekit.tier.LeaseWaiter.End;
import io.throttlekit.tier.Take.Kind;
import java.util.ArrayList;
import java.util.List;

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
 * The leased units of one counter in this process. At most one lease is asked for at a time, and
 * what it grants is credited once, when it is answered.
 *
 * <p>Thread-safe; nobody waits in here for more than the few instructions of another. Times are
 * monotonic ns.
 */
final class LeaseCell extends Keyed {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** A hundred years, so that differences of monotonic times stay valid. */
  private static final long LONGEST_MILLIS = 3_155_760_000_000L;

  /** The store rounds its clock down to ms. */
  private static final long ROUNDING_NANOS = NANOS_PER_MILLI;

  /** A clock that is being corrected runs fast by at most 500 in a million. */
  private static final long DRIFT_PARTS = 2_000;

  private final Tier.Leased options;
  private final LeaseSizer sizer;
  private final boolean learns;
  private final DemandWindow demand;

  /** Wanted before the store's clock was known. */
  private long earlyDemand;

  private FixedWindow window;
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

  private boolean leasing;
  private volatile boolean retired;
  private long lastUsedNanos;
  private long forfeited;
  private List<LeaseWaiter> waiters = List.of();

  LeaseCell(CounterKey key, FixedWindow window, Tier.Leased options, LeaseSizer sizer, long now) {
    super(key);
    this.window = window;
    this.options = options;
    this.sizer = sizer;
    this.learns = sizer.learns();
    this.demand = new DemandWindow(sizer, window.windowMillis());
    this.creditsEndNanos = now;
    this.lastUsedNanos = now;
  }

  /**
   * Spends {@code cost} units that are leased.
   *
   * @param newest the limit as it is now
   * @param first whether the request asks for the first time, and so is new demand
   */
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

  /** {@link #take} for the first time, where that decides; else nothing is counted as demand. */
  synchronized Take takeAtOnce(FixedWindow newest, long cost, long now) {
    roll(now);
    boolean decides = credits >= cost || (exhausted && newest.limit() == window.limit());
    return decides ? take(newest, cost, true, now) : Take.SHORT;
  }

  /** Whether this cell was made for {@code wanted}. */
  boolean hasOptions(Tier.Leased wanted) {
    return options.equals(wanted);
  }

  /** Whether a lease should be asked for ahead of need. */
  synchronized boolean isLow(long now) {
    return options.lowWater() > 0
        && credits <= options.lowWater()
        && !leasing
        && !exhausted
        && now - creditsEndNanos < 0;
  }

  /**
   * Says how many units to ask for, and that they are being asked for.
   *
   * @param cost of the request that they are for; 0 when it is ahead of need
   * @return 0 when some are being asked for already, or should not be
   */
  synchronized long beginLease(long cost, long now) {
    if (leasing || retired || exhausted) {
      return 0;
    }
    leasing = true;
    long lacking = Math.max(0, cost - credits);
    long limit = Math.max(1, window.limit());
    return knowsStoreClock()
        ? demand.size(lacking, limit, storeMillis(now))
        : Math.clamp(Math.max(lacking, sizer.size(0, limit)), 1, limit);
  }

  /** Has {@code waiter} told of the lease that is being asked for; false when there is none. */
  synchronized boolean await(LeaseWaiter waiter) {
    if (!leasing) {
      return false;
    }
    waiters = waiters.isEmpty() ? new ArrayList<>() : waiters;
    waiters.add(waiter);
    return true;
  }

  /** Ends a lease that was not answered. */
  synchronized Completed fail() {
    return completed(End.FAILED, 0);
  }

  /** Ends a lease and credits what it granted: here, once, and nowhere else. */
  synchronized Completed complete(long wanted, Grant grant, long askedNanos, long answeredNanos) {
    batch = Math.min(wanted, sizer.size(0, Math.max(1, window.limit())));
    roll(answeredNanos);
    learnWindow(grant, askedNanos, answeredNanos);
    leftAtStore = grant.left();
    exhausted = grant.left() == 0 || grant.units() < wanted;
    if (retired || answeredNanos - creditsEndNanos >= 0) { // carried over is what was there in time
      return completed(retired ? End.CREDITED : End.LATE, grant.units());
    }
    credits += grant.units();
    return completed(End.CREDITED, 0);
  }

  private void learnWindow(Grant grant, long askedNanos, long answeredNanos) {
    long millis = Math.clamp(grant.windowEndMillis() - grant.storeNowMillis(), 0, LONGEST_MILLIS);
    long nanos = millis * NANOS_PER_MILLI;
    long creditsEnd = askedNanos + nanos - ROUNDING_NANOS - nanos / DRIFT_PARTS;
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
    long idleNanos = options.returnIdleAfterMillis() * NANOS_PER_MILLI;
    askAgainNanos = idleNanos == 0 ? windowEndNanos : answeredNanos + Math.min(idleNanos, nanos);
  }

  private Completed completed(End end, long unspendable) {
    leasing = false;
    List<LeaseWaiter> waiting = waiters;
    waiters = List.of();
    return new Completed(waiting, end, unspendable);
  }

  /** Units of windows that have ended, since this was asked last. */
  synchronized long takeForfeited() {
    long lost = forfeited;
    forfeited = 0;
    return lost;
  }

  /** Returns units that were taken in a window and not spent; false when they are worth nothing. */
  synchronized boolean putBack(long units, long takenWindowEndMillis) {
    if (retired || windowEndMillis != takenWindowEndMillis) {
      return false;
    }
    credits += units;
    return true;
  }

  /** Takes what is left if nobody asked for {@link Tier.Leased#returnIdleAfterMillis}. */
  synchronized Leftover takeIdle(long now) {
    roll(now);
    long idleNanos = options.returnIdleAfterMillis() * NANOS_PER_MILLI;
    boolean idle = idleNanos > 0 && now - lastUsedNanos >= idleNanos && !leasing;
    return idle ? takeAll() : new Leftover(0, windowEndMillis);
  }

  /** Ends this cell and takes what is left. */
  synchronized Leftover retire(long now) {
    roll(now);
    retired = true;
    return takeAll();
  }

  @Override
  public boolean isRetired() {
    return retired;
  }

  /** A refund was counted at the store: it may have something left again. */
  synchronized void reopen() {
    exhausted = false;
  }

  /** The limit as it was asked for last. */
  synchronized FixedWindow window() {
    return window;
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
            leasing ? "leasing for " + waiters.size() : "",
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
      forfeited += credits - kept;
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
