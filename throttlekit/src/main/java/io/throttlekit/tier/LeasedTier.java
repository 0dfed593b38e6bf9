package io.throttlekit.tier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.lease.AcquireResult;
import io.throttlekit.lease.Completed;
import io.throttlekit.lease.GlobalCell;
import io.throttlekit.lease.LeaseCell;
import io.throttlekit.lease.LeaseWaiter;
import io.throttlekit.lease.Leftover;
import io.throttlekit.lease.Tier;
import io.throttlekit.once.Answered;
import io.throttlekit.store.Charge;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.RecentKeys;
import io.throttlekit.store.StoreException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Units leased and spent in this process's memory: a Caffeine cache of {@link LeaseCell}s. Units of
 * a cell that is evicted, or idle for a while, are returned to the store. Keys have at most 128
 * bytes, so the bound on cells also bounds memory; unused cells are dropped by a sweep.
 *
 * <p>Thread-safe and non-blocking; no cell is locked while the store is called.
 */
final class LeasedTier implements AutoCloseable {
  /** The longest timer, ten minutes: a sweep finds what is due later, without a task until then. */
  private static final long MAX_TIMER_NANOS = 600_000_000_000L;

  private final TimeSource time;
  private final Scheduler timer;
  private final TierListener listener;
  private final Cache<CounterKey, LeaseCell> cells;
  private final RecentKeys<LeaseCell> recent = new RecentKeys<>();
  private final CellSweep sweep;
  private final IdleCells idle;
  private final LeaseCalls calls;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Suspension suspension;
  private volatile long clockCheckedNanos;

  /**
   * Creates a tier without cells.
   *
   * @param region the source of units of the region's limits
   * @param allRegions the source of units of limits that all regions share; absent without a
   *     coordinator
   */
  LeasedTier(
      LeaseSource region,
      @Nullable LeaseSource allRegions,
      TimeSource time,
      Scheduler timer,
      long maxCells,
      TierListener listener) {
    this.calls = new LeaseCalls(region, allRegions);
    this.time = time;
    this.timer = timer;
    this.listener = listener;
    this.suspension = new Suspension(time);
    this.clockCheckedNanos = time.monotonicNanos();
    this.cells =
        Caffeine.newBuilder()
            .maximumSize(maxCells)
            .executor(Runnable::run) // the removal listener runs at once, on the calling thread
            .removalListener(this::removed)
            .build();
    this.idle = new IdleCells(time, timer, this::returnIdle);
    this.sweep = new CellSweep(cells.asMap().values());
    sweep.later(timer, closed::get, this::sweep);
  }

  /**
   * Returns the cell of a charge, whose limit is a fixed window. Each tenant of a counter has its
   * own.
   *
   * @param first whether this is the request's first attempt, so that its options are the newest. A
   *     request that waited through a reload takes the existing cell: otherwise requests with new
   *     and with old options would retire each other's cells and never be granted anything
   */
  LeaseCell cell(Charge charge, Tier.Leasing options, boolean first) {
    LeaseCell known = recent.find(charge.chargedKey());
    if (known == null || known.isRetired()) {
      known = cells.getIfPresent(charge.chargedKey());
      if (known != null) {
        recent.put(known);
      }
    }
    if (known != null) {
      if (!first || known.isOf(options)) {
        return known;
      }
      cells.asMap().remove(known.key(), known); // a reload changed the policy
    }
    recent.makeRoomFor(cells.estimatedSize() + 1);
    return cells.get(charge.chargedKey(), _ -> LeaseCell.of(charge, options, now()));
  }

  /**
   * Charges the cell of a counter, and leases units ahead of need if it is low then.
   *
   * @param charge to a fixed window
   * @param first as for {@link #cell}, and whether the cost counts as demand
   */
  AcquireResult tryAcquire(
      Charge charge, Tier.Leasing options, DataLoss onDataLoss, boolean first, long now) {
    AcquireResult result;
    do { // a cell that was evicted after the look-up has a successor
      result = cell(charge, options, first).tryAcquire(charge, first, now);
    } while (result.kind() == AcquireResult.Kind.RETIRED);
    if (result.kind() == AcquireResult.Kind.TAKEN) {
      LeaseRequest request = result.cell().refill(0, onDataLoss, now);
      if (request != null) {
        listener.refillAhead();
        lease(result.cell(), request);
      }
    }
    return result;
  }

  /**
   * Notifies {@code waiter} when the cell's lease has ended; requests one unless one is in flight.
   */
  void lease(LeaseCell cell, long cost, DataLoss onDataLoss, LeaseWaiter waiter) {
    LeaseRequest request = cell.refill(cost, onDataLoss, now());
    if (request == null) {
      listener.waiterJoined();
    }
    if (!cell.await(waiter)) {
      waiter.leaseEnded(cell, LeaseWaiter.End.CREDITED, null); // ended meanwhile: retry
    }
    // After await(): an answer on this thread must find the waiter.
    if (request != null) {
      lease(cell, request);
    }
  }

  /** Returns units that a request took and did not spend. */
  void putBack(AcquireResult taken, long units) {
    LeaseCell cell = taken.cell();
    putBack(cell, units, taken.windowEndMillis());
    if (taken.ofNextToo()) {
      putBack(cell, units, taken.windowEndMillis() + cell.window().windowMillis());
    }
  }

  private void putBack(LeaseCell cell, long units, long windowEndMillis) {
    if (cell.putBack(units, windowEndMillis)) {
      idle.add(cell);
    } else {
      returnUnits(cell, units, windowEndMillis);
    }
  }

  /**
   * Returns all units after a suspension of the process, because their windows may have ended.
   * Called before units are spent.
   */
  void checkClock(long now) {
    if (now - clockCheckedNanos >= Suspension.EVERY_NANOS) {
      checkClock();
    }
  }

  private void checkClock() {
    clockCheckedNanos = now();
    if (suspension.isOver()) {
      listener.suspended();
      cells.invalidateAll();
    }
  }

  /** Clears the mark that a counter has nothing left. */
  void reopen(CounterKey key) {
    LeaseCell cell = cells.getIfPresent(key);
    if (cell != null) {
      cell.reopen();
    }
  }

  /** Clears the mark that counters have nothing left. */
  void reopenAll() {
    cells.asMap().values().forEach(LeaseCell::reopen);
  }

  /** Returns the number of counters with a cell. */
  long size() {
    return cells.estimatedSize();
  }

  /** Returns the state of every cell. */
  @Override
  public String toString() {
    return cells.asMap().values().toString();
  }

  /** Returns the units of idle cells, and drops cells that were unused for a window. */
  void sweep() {
    checkClock();
    long now = now();
    sweep.step(cell -> {
      if (cell.isForgettable(now)) {
        cells.asMap().remove(cell.key(), cell); // removed() returns what it holds
        return;
      }
      returnIdle(cell);
      if (cell instanceof GlobalCell global && global.isNextDue(now)) {
        leaseNext(global);
      }
    });
  }

  private void returnIdle(LeaseCell cell) {
    returnUnits(cell, cell.takeIdle(now()));
    reportForfeits(cell);
    idle.add(cell);
  }

  /** Returns all units. */
  @Override
  public void close() {
    boolean first = closed.compareAndSet(false, true); // calls are stopped only once
    cells.invalidateAll();
    if (first) {
      calls.close();
    }
  }

  /** Completes when this is closed and every return has been answered or has failed. */
  CompletionStage<?> ended() {
    return calls.ended();
  }

  private void lease(LeaseCell cell, LeaseRequest request) {
    calls.call(
        request,
        source -> source.lease(request, late -> late(cell, request, late)),
        (answer, failure) -> answered(cell, request, answer, failure));
  }

  private void answered(
      LeaseCell cell,
      LeaseRequest request,
      @Nullable Answered<LeaseGrant> answer,
      @Nullable Throwable failure) {
    Completed completed;
    checkClock();
    if (answer == null) {
      listener.leaseFailed();
      completed = cell.fail();
    } else {
      LeaseGrant grant = answer.value();
      listener.leased(request.units(), grant.units());
      completed = cell.complete(request.units(), grant, answer.sentNanos(), now());
      tooLate(cell, completed.unspendable(), grant.windowEndMillis());
      scheduleNextLease(cell);
    }
    reportForfeits(cell);
    StoreException why = failure == null ? null : StoreException.of(failure);
    for (LeaseWaiter waiter : completed.waiting()) {
      waiter.leaseEnded(cell, completed.end(), why);
    }
    idle.add(cell);
  }

  /** Credits the units of a late answer. */
  private void late(LeaseCell requester, LeaseRequest request, Answered<LeaseGrant> answer) {
    LeaseGrant grant = answer.value();
    checkClock();
    if (grant.units() == 0) {
      return;
    }
    // The cell may have been replaced meanwhile; units of other terms cannot be credited.
    LeaseCell successor = requester.isRetired() ? cells.getIfPresent(requester.key()) : null;
    LeaseCell cell = successor != null && successor.isOf(requester.tier()) ? successor : requester;
    listener.leased(grant.units(), grant.units());
    long unspendable = cell.credit(grant, request.isAhead(), answer.sentNanos(), now());
    tooLate(cell, unspendable, grant.windowEndMillis());
    reportForfeits(cell);
    for (LeaseWaiter waiter : cell.takeWaiters()) {
      waiter.leaseEnded(cell, LeaseWaiter.End.CREDITED, null);
    }
    idle.add(cell);
  }

  private void tooLate(LeaseCell cell, long units, long windowEndMillis) {
    if (units > 0) {
      listener.lateGrant(units);
      returnUnits(cell, units, windowEndMillis);
    }
  }

  /** Schedules the lease of the next window before it begins, if the cell wants one. */
  private void scheduleNextLease(LeaseCell cell) {
    long nanos = cell instanceof GlobalCell global ? global.nanosToNextLease(now()) : 0;
    if (nanos > 0 && nanos <= MAX_TIMER_NANOS) {
      timer.runAfter(nanos, () -> leaseNext((GlobalCell) cell));
    }
  }

  private void leaseNext(GlobalCell cell) {
    // A timer may run after close().
    LeaseRequest request = closed.get() ? null : cell.refillNext(now());
    if (request != null) {
      listener.refillAhead();
      calls.call(
          request,
          source -> source.lease(request, late -> late(cell, request, late)),
          (answer, _) -> leasedNext(cell, request, answer));
    }
  }

  private void leasedNext(
      GlobalCell cell, LeaseRequest request, @Nullable Answered<LeaseGrant> answer) {
    checkClock();
    if (answer == null) {
      listener.leaseFailed();
      cell.failNext();
    } else {
      LeaseGrant grant = answer.value();
      listener.leased(request.units(), grant.units());
      long unspendable = cell.completeNext(grant, answer.sentNanos(), now());
      tooLate(cell, unspendable, grant.windowEndMillis());
      scheduleNextLease(cell);
    }
    reportForfeits(cell);
    idle.add(cell);
  }

  private void returnUnits(LeaseCell cell, Leftover left) {
    returnUnits(cell, left.units(), left.windowEndMillis());
    returnUnits(cell, left.ofNext(), left.windowEndMillis() + cell.window().windowMillis());
  }

  private void returnUnits(LeaseCell cell, long units, long windowEndMillis) {
    if (units > 0) {
      listener.unitsReturned(units);
      LeaseRequest leased = cell.leased(units, windowEndMillis);
      calls.call(
          leased, source -> source.returnUnits(leased, windowEndMillis, units), (_, _) -> {});
    }
  }

  private void removed(@Nullable CounterKey key, @Nullable LeaseCell cell, RemovalCause cause) {
    if (cell == null) {
      return;
    }
    if (cause.wasEvicted()) {
      listener.evicted();
    }
    Leftover left = cell.retire(now());
    recent.drop(cell.key());
    returnUnits(cell, left);
    reportForfeits(cell);
  }

  private void reportForfeits(LeaseCell cell) {
    long forfeited = cell.takeForfeited();
    if (forfeited > 0) {
      listener.forfeited(forfeited);
    }
  }

  private long now() {
    return time.monotonicNanos();
  }
}
