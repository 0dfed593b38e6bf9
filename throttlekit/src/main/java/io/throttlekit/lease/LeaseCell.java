package io.throttlekit.lease;

import static io.throttlekit.MonotonicSpan.NANOS_PER_MILLI;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.lease.LeaseWaiter.End;
import io.throttlekit.lease.sizing.LeaseSizer;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Keyed;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The leased units of one counter in this process, or of one tenant of a counter that tenants
 * share: {@link #tryAcquire} spends them, {@link #refill} leases more, and {@link #putBack}, {@link
 * #takeIdle} and {@link #retire} release what is not spent. At most one lease is in flight at a
 * time; its grant is credited once, when the answer arrives.
 *
 * <p>Thread-safe; locks are held for a few instructions only. Times are monotonic ns.
 */
public abstract class LeaseCell extends Keyed {
  /** The rounding error of a clock that is reported in ms, rounded down. */
  static final long ROUNDING_NANOS = NANOS_PER_MILLI;

  /**
   * A cell is kept for at least this long, and one window, after its last use: a client that comes
   * back within a minute finds what was learned of its demand.
   */
  private static final long MIN_KEPT_NANOS = 60_000 * NANOS_PER_MILLI;

  private final Tier.Leasing tier;

  /** The key of the counter; the cell of a tenant has the tenant's key. */
  private final CounterKey counter;

  // The newest ones of the tenant, absent where no tenants share the counter. They are fields, not
  // a FairTenant, because most cells are not in the processor's cache when they are requested. A
  // race between newest ones is harmless.
  private @Nullable TenantWeight weight;
  private @Nullable FairTerms terms;

  /** What the tenant may take of a window in all, by the last grant. */
  private long tenantLimit = LeaseGrant.UNKNOWN;

  /** The limit of the newest request. */
  FixedWindow window;

  boolean leasing;
  volatile boolean retired;
  long lastUsedNanos;

  final IdleTime idle;

  /** When the caller of {@link #nanosToIdle} calls {@link #takeIdle}. */
  private long checkNanos;

  /** Units of ended windows that have not been reported by {@link #takeForfeited}. */
  private long forfeited;

  private Set<LeaseWaiter> waiters = Set.of();

  LeaseCell(Charge charge, Tier.Leasing tier, long now) {
    super(charge.chargedKey());
    this.counter = charge.key();
    FairTenant tenant = charge.tenant();
    this.weight = tenant == null ? null : tenant.weight();
    this.terms = tenant == null ? null : tenant.terms();
    this.window = (FixedWindow) charge.algorithm();
    this.tier = tier;
    this.lastUsedNanos = now;
    this.checkNanos = now;
    this.idle = new IdleTime(tier.returnIdleAfterMillis(), window.windowMillis(), tenant != null);
  }

  /** Creates a cell for charges like this one, to a fixed window, without units. */
  public static LeaseCell of(Charge charge, Tier.Leasing tier, long now) {
    LeaseSizer sizer = LeaseSizer.of(tier.size(), Math.max(1, charge.algorithm().limit()));
    return switch (tier) {
      case Tier.Leased leased -> new StoreCell(charge, leased, sizer, now);
      case Tier.Global global -> new GlobalCell(charge, global, sizer, now);
    };
  }

  /** Spends units for a charge; a tenant's weight is the charge's from the next lease on. */
  @SuppressWarnings("ReferenceEquality") // avoids writes: almost always the same rule
  public final AcquireResult tryAcquire(Charge charge, boolean first, long now) {
    FairTenant newest = charge.tenant();
    if (newest != null && (newest.weight() != weight || newest.terms() != terms)) {
      weight = newest.weight();
      terms = newest.terms();
    }
    return tryAcquire((FixedWindow) charge.algorithm(), charge.cost(), first, now);
  }

  /**
   * Spends {@code cost} leased units.
   *
   * @param newest the current limit
   * @param first whether this is the request's first attempt, so that its cost counts as demand
   */
  abstract AcquireResult tryAcquire(FixedWindow newest, long cost, boolean first, long now);

  /**
   * Marks a lease as in flight and returns what to request.
   *
   * @param cost of the request that needs the lease; 0 for a lease ahead of need
   * @return null when a lease is in flight already, or none is needed
   */
  public abstract @Nullable LeaseRequest refill(long cost, DataLoss onDataLoss, long now);

  /** Ends a lease and credits its grant. */
  public abstract Completed complete(
      long wanted, LeaseGrant grant, long sentNanos, long answeredNanos);

  /**
   * Credits units of a late answer, besides the lease in flight.
   *
   * @param ahead whether the late answer was for the next window
   * @return the unspendable units
   */
  public abstract long credit(LeaseGrant grant, boolean ahead, long sentNanos, long answeredNanos);

  /**
   * Returns units to their window; false when the cell cannot take them and they go to the store.
   */
  public abstract boolean putBack(long units, long takenWindowEndMillis);

  /** Takes all units if the cell is idle. */
  public final synchronized Leftover takeIdle(long now) {
    roll(now);
    return isIdle(now) ? takeAll() : Leftover.NONE;
  }

  /**
   * Returns in how many ns units of this cell may be idle, once until then.
   *
   * @return from 1; 0 when {@link #takeIdle} need not be called
   */
  public final synchronized long nanosToIdle(long now) {
    // Called again after the answer of a lease in flight.
    if (idle.isNever() || retired || leasing || checkNanos - now > 0 || !hasUnits()) {
      return 0;
    }
    // Not later than the shortest time: more requests may come, and shorten it.
    long nanos = Math.clamp(lastUsedNanos + idle.nanos() - now, 1, idle.minNanos());
    checkNanos = now + nanos;
    return nanos;
  }

  /** Notes a request. */
  final void use(long now) {
    idle.observe(now - lastUsedNanos);
    lastUsedNanos = now;
  }

  /** Returns whether there are units that could be returned. */
  abstract boolean hasUnits();

  /** Retires this cell and takes all its units. */
  public final synchronized Leftover retire(long now) {
    roll(now);
    retired = true;
    return takeAll();
  }

  /** Moves on to the window that is current now. */
  abstract void roll(long now);

  abstract Leftover takeAll();

  /** Clears the mark that the source has nothing left. */
  public abstract void reopen();

  /** Returns whether this cell was created for {@code wanted}. */
  @SuppressWarnings("ReferenceEquality") // almost always the same rule, and its tier
  public final boolean isOf(Tier.Leasing wanted) {
    return tier == wanted || tier.equals(wanted);
  }

  /** Returns how the limit is shared. */
  public final Tier.Leasing tier() {
    return tier;
  }

  /** Registers {@code waiter} for the lease in flight; false when there is none. */
  public final synchronized boolean await(LeaseWaiter waiter) {
    if (!leasing) {
      return false;
    }
    waiters = waiters.isEmpty() ? new LinkedHashSet<>() : waiters;
    waiters.add(waiter);
    return true;
  }

  /** Removes a waiter whose request has been answered. */
  public final synchronized void forget(LeaseWaiter waiter) {
    if (!waiters.isEmpty()) {
      waiters.remove(waiter);
    }
  }

  /** Removes and returns all waiters. */
  public final synchronized Collection<LeaseWaiter> takeWaiters() {
    Set<LeaseWaiter> waiting = waiters;
    waiters = Set.of();
    return waiting;
  }

  /** Ends a lease that failed. */
  public synchronized Completed fail() {
    return completed(retired ? End.CREDITED : End.FAILED, 0); // retired: retry at the successor
  }

  /** Returns the units of ended windows, and resets their count. */
  public final synchronized long takeForfeited() {
    long lost = forfeited;
    forfeited = 0;
    return lost;
  }

  @Override
  public final boolean isRetired() {
    return retired;
  }

  /**
   * Returns the request for a lease.
   *
   * @param windowEndMillis the window, or {@link LeaseRequest#CURRENT}
   * @param units requested units, from 1
   * @param size the usual lease size of this process
   * @param usable the units that this process can probably use in the window
   */
  final LeaseRequest request(
      DataLoss onDataLoss, long windowEndMillis, long units, long size, long usable) {
    Tier.Global global = tier instanceof Tier.Global shared ? shared : null;
    FairTerms division = terms;
    TenantWeight share = weight;
    return new LeaseRequest(
        counter,
        window,
        units,
        onDataLoss,
        null,
        windowEndMillis,
        size,
        usable,
        global == null ? null : global.terms(),
        global != null && global.regionalOnly(),
        division == null || share == null ? null : new FairTenant(key, share, division));
  }

  /** Returns units of a window as the request that leased them. */
  public final synchronized LeaseRequest leased(long units, long windowEndMillis) {
    return request(DataLoss.REFILL, windowEndMillis, units, units, units);
  }

  /** Returns the limit of the newest request. */
  public final synchronized FixedWindow window() {
    return window;
  }

  /** Returns the limit, at least 1: of leases, also for a limit of 0. */
  final long limit() {
    return Math.max(1, window.limit());
  }

  /** Returns the limit of the tenant, as far as it is known; else that of the counter. */
  final long ownLimit() {
    return tenantLimit == LeaseGrant.UNKNOWN
        ? window.limit()
        : Math.min(tenantLimit, window.limit());
  }

  /** Returns the most that a window can grant to this cell, at least 1, which the sizer needs. */
  final long most() {
    return Math.max(1, ownLimit());
  }

  /** Returns whether tenants share the counter. */
  final boolean isShared() {
    return terms != null;
  }

  /** Learns what the tenant may take. An escrow does not know it. */
  final void learnLimit(LeaseGrant grant) {
    if (grant.limit() != LeaseGrant.UNKNOWN) {
      tenantLimit = grant.limit();
    }
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
   * Returns whether the cell may be dropped. Its last used window has ended by then, and so has the
   * next window that it may hold units of; units left over are returned.
   */
  public final synchronized boolean isForgettable(long now) {
    long kept = Math.max(MIN_KEPT_NANOS, MonotonicSpan.nanos(window.windowMillis()));
    return !leasing && waiters.isEmpty() && now - lastUsedNanos >= kept;
  }

  /** Returns whether no request used the cell for some time and no lease is in flight. */
  boolean isIdle(long now) {
    return !idle.isNever() && now - lastUsedNanos >= idle.nanos() && !leasing;
  }
}
