package io.throttlekit.tier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.throttlekit.Charge;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.recent.RecentlyAsked;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.Grant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.StoreException;
import java.util.Collections;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Units leased from a store and spent in this process's memory: a Caffeine cache of {@link
 * LeaseCell}s. What a cell still holds when it is pushed out, or when nobody has asked for it for a
 * while, goes back to the store.
 *
 * <p>Thread-safe. Nothing here blocks, and a cell is never held while the store is called.
 */
final class LeasedTier implements AutoCloseable {
  /** How long it takes to look at every cell once, while that is no more than a moment's work. */
  private static final long SWEEP_NANOS = 1_000_000_000;

  /** Cells that are looked at in one go: more would hold up the requests of this thread. */
  private static final int SWEEP_CELLS = 5_000;

  private static final int MOST_SWEEPS = 20;

  private final CounterStore store;
  private final TimeSource time;
  private final TierListener listener;
  private final Cache<CounterKey, LeaseCell> cells;
  private final RecentlyAsked<LeaseCell> recent = new RecentlyAsked<>();

  /** Used by one sweep after the other. */
  private Iterator<LeaseCell> unswept = Collections.emptyIterator();

  private final AtomicBoolean closed = new AtomicBoolean();

  LeasedTier(
      CounterStore store, TimeSource time, Timer timer, long maxCells, TierListener listener) {
    this.store = store;
    this.time = time;
    this.listener = listener;
    this.cells =
        Caffeine.newBuilder()
            .maximumSize(maxCells)
            .executor(Runnable::run)
            .removalListener(this::removed)
            .build();
    sweepLater(timer);
  }

  /**
   * The cell of a charge, whose limit is a fixed window.
   *
   * @param first whether the request asks for the first time, so that its options are the newest:
   *     one that has waited through a reload takes the cell that there is, for those with the new
   *     options and those with the old ones would retire each other's cells and be granted nothing
   */
  LeaseCell cell(Charge charge, Tier.Leased options, boolean first) {
    LeaseCell known = recent.find(charge.key());
    if (known == null || known.isRetired()) {
      known = cells.getIfPresent(charge.key());
      if (known != null) {
        recent.put(known);
      }
    }
    if (first && known != null && !known.hasOptions(options)) { // a reload changed the policy
      cells.asMap().remove(charge.key(), known);
      known = null;
    }
    if (known != null) {
      return known;
    }
    recent.makeRoomFor(cells.estimatedSize() + 1);
    return cells.get(charge.key(), key -> newCell(charge, options));
  }

  /**
   * Has {@code waiter} told when a lease for the cell has ended, which is asked for unless one is
   * already.
   */
  void lease(LeaseCell cell, long cost, DataLoss onDataLoss, LeaseWaiter waiter) {
    long asked = now();
    long wanted = cell.beginLease(cost, asked);
    if (wanted == 0) {
      listener.rider();
    }
    if (!cell.await(waiter)) {
      waiter.leaseEnded(LeaseWaiter.End.CREDITED, null); // it has ended meanwhile: look again
    }
    if (wanted > 0) {
      ask(cell, wanted, asked, onDataLoss);
    }
  }

  /** Asks for units ahead of need where a cell wants that. */
  void refill(LeaseCell cell, DataLoss onDataLoss, long now) {
    if (cell.isLow(now)) {
      long wanted = cell.beginLease(0, now);
      if (wanted > 0) {
        listener.refillAhead();
        ask(cell, wanted, now, onDataLoss);
      }
    }
  }

  /** Gives back what a request took and did not spend. */
  void putBack(LeaseCell cell, long units, long windowEndMillis) {
    if (!cell.putBack(units, windowEndMillis)) {
      giveBack(cell, new Leftover(units, windowEndMillis));
    }
  }

  /** Forgets that the counter's units are used up. */
  void reopen(CounterKey key) {
    LeaseCell cell = cells.getIfPresent(key);
    if (cell != null) {
      cell.reopen();
    }
  }

  /** Forgets that units of any counter are used up. */
  void reopenAll() {
    cells.asMap().values().forEach(LeaseCell::reopen);
  }

  /** How many counters have a cell. */
  long size() {
    return cells.estimatedSize();
  }

  /** Every cell, for a test that compares moments. */
  String inWords() {
    return cells.asMap().values().toString();
  }

  /** Gives back what nobody has asked for lately; of many cells, of the next in turn. */
  void sweep() {
    long now = now();
    if (!unswept.hasNext()) {
      unswept = cells.asMap().values().iterator();
    }
    for (int i = 0; i < SWEEP_CELLS && unswept.hasNext(); i++) {
      LeaseCell cell = unswept.next();
      giveBack(cell, cell.takeIdle(now));
      tellForfeits(cell);
    }
  }

  /** Gives back everything. */
  @Override
  public void close() {
    closed.set(true);
    cells.invalidateAll();
  }

  private void ask(LeaseCell cell, long wanted, long askedNanos, DataLoss onDataLoss) {
    LeaseRequest request = new LeaseRequest(cell.key(), cell.window(), wanted, onDataLoss);
    store
        .lease(request)
        .whenComplete((grant, failure) -> answered(cell, request, grant, failure, askedNanos));
  }

  private void answered(
      LeaseCell cell,
      LeaseRequest request,
      @Nullable Grant grant,
      @Nullable Throwable failure,
      long askedNanos) {
    Completed completed;
    if (grant == null) {
      listener.leaseFailed();
      completed = cell.fail();
    } else {
      listener.leased(request.units(), grant.units());
      completed = cell.complete(request.units(), grant, askedNanos, now());
      if (completed.unspendable() > 0) {
        listener.lateGrant(completed.unspendable());
        giveBack(cell, new Leftover(completed.unspendable(), grant.windowEndMillis()));
      }
    }
    tellForfeits(cell);
    for (LeaseWaiter waiter : completed.waiting()) {
      waiter.leaseEnded(completed.end(), failure == null ? null : StoreException.of(failure));
    }
  }

  private void giveBack(LeaseCell cell, Leftover left) {
    if (left.units() > 0) {
      listener.gaveBack(left.units());
      LeaseRequest lease =
          new LeaseRequest(cell.key(), cell.window(), left.units(), DataLoss.REFILL);
      var _ = store.giveBack(lease, left.windowEndMillis(), left.units());
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
    giveBack(cell, left);
    tellForfeits(cell);
  }

  private void tellForfeits(LeaseCell cell) {
    long forfeited = cell.takeForfeited();
    if (forfeited > 0) {
      listener.forfeited(forfeited);
    }
  }

  private void sweepLater(Timer timer) {
    long sweeps = Math.clamp(Math.ceilDiv(cells.estimatedSize(), SWEEP_CELLS), 1, MOST_SWEEPS);
    timer.runAfter(
        SWEEP_NANOS / sweeps,
        () -> {
          if (!closed.get()) {
            sweep();
            sweepLater(timer);
          }
        });
  }

  private LeaseCell newCell(Charge charge, Tier.Leased options) {
    FixedWindow window = (FixedWindow) charge.algorithm();
    LeaseSizer sizer = LeaseSizer.of(options.size(), Math.max(1, window.limit()));
    return new LeaseCell(charge.key(), window, options, sizer, now());
  }

  private long now() {
    return time.monotonicNanos();
  }
}
