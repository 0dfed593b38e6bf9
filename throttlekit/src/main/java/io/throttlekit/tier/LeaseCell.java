package io.throttlekit.tier;

import static io.throttlekit.MonotonicSpan.NANOS_PER_MILLI;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.recent.Keyed;
import io.throttlekit.tier.LeaseWaiter.End;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The leased units of one counter in this process. At most one lease is asked for at a time, and
 * what it grants is credited once, when it is answered.
 *
 * <p>Thread-safe; nobody waits in here for more than the few instructions of another. Times are
 * monotonic ns.
 */
abstract class LeaseCell extends Keyed {
  /** A clock is told in ms, rounded down. */
  static final long ROUNDING_NANOS = NANOS_PER_MILLI;

  /**
   * A cell that was not used for a window, and for this long, has nothing that is worth keeping.
   */
  private static final long MIN_KEPT_NANOS = 60_000 * NANOS_PER_MILLI;

  private final Tier.Leasing tier;

  /** The limit as it was asked for last. */
  FixedWindow window;

  boolean leasing;
  volatile boolean retired;
  long lastUsedNanos;
  private long forfeited;
  private Set<LeaseWaiter> waiters = Set.of();

  LeaseCell(CounterKey key, FixedWindow window, Tier.Leasing tier, long now) {
    super(key);
    this.window = window;
    this.tier = tier;
    this.lastUsedNanos = now;
  }

  /**
   * Spends {@code cost} units that are leased.
   *
   * @param newest the limit as it is now
   * @param first whether the request asks for the first time, and so is new demand
   */
  abstract Take take(FixedWindow newest, long cost, boolean first, long now);

  /** Takes units back that this process had spent, as many as may still count. */
  abstract Take refund(long units, long now);

  /** {@link #take} for the first time, where that decides; else nothing is counted as demand. */
  abstract Take takeAtOnce(FixedWindow newest, long cost, long now);

  /** Whether a lease should be asked for ahead of need. */
  abstract boolean isLow(long now);

  /**
   * Says what to ask for, and that it is being asked for.
   *
   * @param cost of the request that it is for; 0 when it is ahead of need
   * @return none when some is being asked for already, or should not be
   */
  abstract UnitsWanted beginLease(long cost, long now);

  /** The same of the window after the one that lasts, where that can be leased before it begins. */
  UnitsWanted beginNext(long now) {
    return UnitsWanted.NONE;
  }

  /** What a loss of data means for {@link #beginNext}, which no request asks for. */
  DataLoss onDataLoss() {
    return DataLoss.REFILL;
  }

  /** Ends a lease of the next window and credits what it granted; returns what is unspendable. */
  long completeNext(long wanted, LeasedUnits leased, long askedNanos, long answeredNanos) {
    return leased.units();
  }

  /** Ends a lease of the next window that was not answered. */
  void failNext() {}

  /** Whether it is time to lease the next window. */
  boolean isNextDue(long now) {
    return false;
  }

  /**
   * How many ns from now somebody has to look whether the next window is to be leased: once for
   * each window.
   *
   * @return from 1; 0 when nobody has to
   */
  long nanosToLook(long now) {
    return 0;
  }

  /** Ends a lease and credits what it granted. */
  abstract Completed complete(long wanted, LeasedUnits leased, long askedNanos, long answeredNanos);

  /**
   * Credits units beside the lease that is asked for: those of one that was answered late.
   *
   * @param ahead whether the window after the one that lasted was asked for
   * @return what is unspendable
   */
  abstract long credit(LeasedUnits leased, boolean ahead, long askedNanos, long answeredNanos);

  /** Returns units that were taken in a window and not spent; false when they are worth nothing. */
  abstract boolean putBack(long units, long takenWindowEndMillis);

  /** Takes what is left if nobody asked for {@link Tier.Leasing#returnIdleAfterMillis}. */
  abstract Leftover takeIdle(long now);

  /** Ends this cell and takes what is left. */
  abstract Leftover retire(long now);

  /** It may be that something is left again where units are leased. */
  abstract void reopen();

  /** Whether this cell was made for {@code wanted}. */
  final boolean isOf(Tier.Leasing wanted) {
    return tier.equals(wanted);
  }

  /** How its limit is shared. */
  final Tier.Leasing tier() {
    return tier;
  }

  /** Has {@code waiter} told of the lease that is being asked for; false when there is none. */
  final synchronized boolean await(LeaseWaiter waiter) {
    if (!leasing) {
      return false;
    }
    waiters = waiters.isEmpty() ? new LinkedHashSet<>() : waiters;
    waiters.add(waiter);
    return true;
  }

  /** Forgets a waiter whose request has been answered. */
  final synchronized void forget(LeaseWaiter waiter) {
    if (!waiters.isEmpty()) {
      waiters.remove(waiter);
    }
  }

  /** Takes all that wait, because there are units again. */
  final synchronized Collection<LeaseWaiter> takeWaiters() {
    Set<LeaseWaiter> waiting = waiters;
    waiters = Set.of();
    return waiting;
  }

  /** Ends a lease that was not answered. */
  synchronized Completed fail() {
    return completed(retired ? End.CREDITED : End.FAILED, 0); // look again, at the next cell
  }

  /** Units of windows that have ended, since this was asked last. */
  final synchronized long takeForfeited() {
    long lost = forfeited;
    forfeited = 0;
    return lost;
  }

  @Override
  public final boolean isRetired() {
    return retired;
  }

  /** The limit as it was asked for last. */
  final synchronized FixedWindow window() {
    return window;
  }

  final Completed completed(End end, long unspendable) {
    leasing = false;
    return new Completed(List.copyOf(takeWaiters()), end, unspendable);
  }

  final void forfeit(long units) {
    forfeited += units;
  }

  final synchronized int waiting() {
    return waiters.size();
  }

  /**
   * Whether it may be dropped: the window in which it was used last has ended, and the next one
   * that it may have units of, too, or they go back.
   */
  final synchronized boolean isForgettable(long now) {
    long kept = Math.max(MIN_KEPT_NANOS, MonotonicSpan.nanos(window.windowMillis()));
    return !leasing && waiters.isEmpty() && now - lastUsedNanos >= kept;
  }

  /** After so long without a request what is left goes back; 0 never. */
  final long idleNanos() {
    return MonotonicSpan.nanos(tier.returnIdleAfterMillis());
  }

  /** Whether nobody has asked for so long that what is left goes back. */
  final boolean isIdle(long now) {
    long idleNanos = idleNanos();
    return idleNanos > 0 && now - lastUsedNanos >= idleNanos && !leasing;
  }
}
