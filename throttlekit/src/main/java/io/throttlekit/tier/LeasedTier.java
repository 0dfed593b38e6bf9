package io.throttlekit.tier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.throttlekit.Charge;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.once.Answered;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.recent.RecentlyAsked;
import io.throttlekit.store.StoreException;
import java.util.Collections;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Units leased and spent in this process's memory: a Caffeine cache of {@link LeaseCell}s. What a
 * cell still holds when it is pushed out, or when nobody has asked for it for a while, goes back to
 * the store. Keys have at most 128 bytes, so a bound of cells is one of memory, too; cells that are
 * not used leave by themselves.
 *
 * <p>Thread-safe. Nothing here blocks, and a cell is never held while the store is called.
 */
final class LeasedTier implements AutoCloseable {
  /** How long it takes to look at every cell once, while that is no more than a moment's work. */
  private static final long SWEEP_NANOS = 1_000_000_000;

  /** Cells that are looked at in one go: more would hold up the requests of this thread. */
  private static final int SWEEP_CELLS = 5_000;

  private static final int MOST_SWEEPS = 20;

  /** What is further away is seen by a sweep in time, and need not be kept in mind until then. */
  private static final long LONGEST_TIMER_NANOS = 600_000_000_000L;

  private final LeaseSource source;
  private final TimeSource time;
  private final Timer timer;
  private final TierListener listener;
  private final Cache<CounterKey, LeaseCell> cells;
  private final RecentlyAsked<LeaseCell> recent = new RecentlyAsked<>();

  /** Used by one sweep after the other. */
  private Iterator<LeaseCell> unswept = Collections.emptyIterator();

  private final AtomicBoolean closed = new AtomicBoolean();
  private final Outstanding outstanding = new Outstanding();
  private final Suspension suspension;

  LeasedTier(
      LeaseSource source, TimeSource time, Timer timer, long maxCells, TierListener listener) {
    this.source = source;
    this.time = time;
    this.timer = timer;
    this.listener = listener;
    this.suspension = new Suspension(time);
    this.cells =
        Caffeine.newBuilder()
            .maximumSize(maxCells)
            .executor(Runnable::run)
            .removalListener(this::removed)
            .build();
    sweepLater();
  }

  /**
   * The cell of a charge, whose limit is a fixed window.
   *
   * @param first whether the request asks for the first time, so that its options are the newest:
   *     one that has waited through a reload takes the cell that there is, for those with the new
   *     options and those with the old ones would retire each other's cells and be granted nothing
   */
  LeaseCell cell(Charge charge, Tier.Leasing options, boolean first) {
    LeaseCell known = recent.find(charge.key());
    if (known == null || known.isRetired()) {
      known = cells.getIfPresent(charge.key());
      if (known != null) {
        recent.put(known);
      }
    }
    if (first && known != null && !known.isOf(options)) { // a reload changed the policy
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
    UnitsWanted wanted = cell.beginLease(cost, now());
    if (wanted.units() == 0) {
      listener.rider();
    }
    if (!cell.await(waiter)) {
      waiter.leaseEnded(LeaseWaiter.End.CREDITED, null); // it has ended meanwhile: look again
    }
    if (wanted.units() > 0) {
      ask(cell, wanted, onDataLoss);
    }
  }

  /** Asks for units ahead of need where a cell wants that. */
  void refill(LeaseCell cell, DataLoss onDataLoss, long now) {
    if (cell.isLow(now)) {
      UnitsWanted wanted = cell.beginLease(0, now);
      if (wanted.units() > 0) {
        listener.refillAhead();
        ask(cell, wanted, onDataLoss);
      }
    }
  }

  /** Gives back what a request took and did not spend. */
  void putBack(LeaseCell cell, long units, Take taken) {
    putBack(cell, units, taken.windowEndMillis());
    if (taken.ofNextToo()) {
      putBack(cell, units, taken.windowEndMillis() + cell.window().windowMillis());
    }
  }

  private void putBack(LeaseCell cell, long units, long windowEndMillis) {
    if (!cell.putBack(units, windowEndMillis)) {
      giveBack(cell, units, windowEndMillis);
    }
  }

  /**
   * Gives back everything after a suspension, whose windows may be over: before units are spent.
   */
  void checkClock(long now) {
    if (suspension.isDue(now)) {
      checkClock();
    }
  }

  private void checkClock() {
    if (suspension.isOver()) {
      listener.suspended();
      cells.invalidateAll();
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

  /**
   * Gives back what nobody has asked for lately, and drops cells that were not used for a window;
   * of many cells, of the next in turn.
   */
  void sweep() {
    checkClock();
    long now = now();
    if (!unswept.hasNext()) {
      unswept = cells.asMap().values().iterator();
    }
    for (int i = 0; i < SWEEP_CELLS && unswept.hasNext(); i++) {
      LeaseCell cell = unswept.next();
      if (cell.isForgettable(now)) {
        cells.asMap().remove(cell.key(), cell);
        continue;
      }
      giveBack(cell, cell.takeIdle(now));
      tellForfeits(cell);
      if (cell.isNextDue(now)) {
        prepare(cell);
      }
    }
  }

  /** Gives back everything. */
  @Override
  public void close() {
    boolean first = closed.compareAndSet(false, true);
    cells.invalidateAll();
    if (first) {
      outstanding.close();
    }
  }

  /** Completes when this is closed and what was given back has been taken or lost. */
  CompletionStage<?> ended() {
    return outstanding.ended();
  }

  private static LeaseAsk request(LeaseCell cell, UnitsWanted wanted, DataLoss onDataLoss) {
    return new LeaseAsk(
        cell.key(),
        cell.window(),
        cell.tier(),
        onDataLoss,
        wanted.windowEndMillis(),
        wanted.units(),
        wanted.size(),
        wanted.usable());
  }

  private void ask(LeaseCell cell, UnitsWanted wanted, DataLoss onDataLoss) {
    LeaseAsk ask = request(cell, wanted, onDataLoss);
    lease(cell, ask, (answer, failure) -> answered(cell, ask, answer, failure));
  }

  private void lease(
      LeaseCell cell,
      LeaseAsk ask,
      BiConsumer<@Nullable Answered<LeasedUnits>, @Nullable Throwable> told) {
    outstanding.begun();
    lease(cell, ask).whenComplete(told).whenComplete((_, _) -> outstanding.answered());
  }

  /** A source that throws has failed, or its cell would wait for an answer for ever. */
  private CompletionStage<Answered<LeasedUnits>> lease(LeaseCell cell, LeaseAsk ask) {
    try {
      return source.lease(ask, answer -> late(cell, ask, answer));
    } catch (RuntimeException refused) {
      return CompletableFuture.failedFuture(refused);
    }
  }

  private void answered(
      LeaseCell cell,
      LeaseAsk ask,
      @Nullable Answered<LeasedUnits> answer,
      @Nullable Throwable failure) {
    Completed completed;
    checkClock();
    if (answer == null) {
      listener.leaseFailed();
      completed = cell.fail();
    } else {
      LeasedUnits leased = answer.value();
      listener.leased(ask.units(), leased.units());
      completed = cell.complete(ask.units(), leased, answer.askedNanos(), now());
      tooLate(cell, completed.unspendable(), leased.windowEndMillis());
      lookAhead(cell);
    }
    tellForfeits(cell);
    StoreException why = failure == null ? null : StoreException.of(failure);
    for (LeaseWaiter waiter : completed.waiting()) {
      waiter.leaseEnded(completed.end(), why);
    }
  }

  /** Credits units of an answer that came late. */
  private void late(LeaseCell asked, LeaseAsk ask, Answered<LeasedUnits> answer) {
    LeasedUnits leased = answer.value();
    checkClock();
    if (leased.units() == 0) {
      return;
    }
    LeaseCell successor = asked.isRetired() ? cells.getIfPresent(asked.key()) : null;
    LeaseCell cell = successor != null && successor.isOf(asked.tier()) ? successor : asked;
    listener.leased(leased.units(), leased.units());
    boolean ahead = ask.windowEndMillis() != LeaseAsk.CURRENT;
    tooLate(cell, cell.credit(leased, ahead, answer.askedNanos(), now()), leased.windowEndMillis());
    tellForfeits(cell);
    for (LeaseWaiter waiter : cell.takeWaiters()) {
      waiter.leaseEnded(LeaseWaiter.End.CREDITED, null);
    }
  }

  private void tooLate(LeaseCell cell, long units, long windowEndMillis) {
    if (units > 0) {
      listener.lateGrant(units);
      giveBack(cell, units, windowEndMillis);
    }
  }

  /** Has the next window leased before it begins, if somebody asks in this one. */
  private void lookAhead(LeaseCell cell) {
    long nanos = cell.nanosToLook(now());
    if (nanos > 0 && nanos <= LONGEST_TIMER_NANOS) {
      timer.runAfter(nanos, () -> prepare(cell));
    }
  }

  private void prepare(LeaseCell cell) {
    UnitsWanted wanted = closed.get() ? UnitsWanted.NONE : cell.beginNext(now());
    if (wanted.units() == 0) {
      return;
    }
    listener.refillAhead();
    LeaseAsk ask = request(cell, wanted, cell.onDataLoss());
    lease(cell, ask, (answer, _) -> prepared(cell, ask, answer));
  }

  private void prepared(LeaseCell cell, LeaseAsk ask, @Nullable Answered<LeasedUnits> answer) {
    checkClock();
    if (answer == null) {
      listener.leaseFailed();
      cell.failNext();
    } else {
      LeasedUnits leased = answer.value();
      listener.leased(ask.units(), leased.units());
      long unspendable = cell.completeNext(ask.units(), leased, answer.askedNanos(), now());
      tooLate(cell, unspendable, leased.windowEndMillis());
      lookAhead(cell);
    }
    tellForfeits(cell);
  }

  private void giveBack(LeaseCell cell, Leftover left) {
    giveBack(cell, left.units(), left.windowEndMillis());
    giveBack(cell, left.ofNext(), left.windowEndMillis() + cell.window().windowMillis());
  }

  private void giveBack(LeaseCell cell, long units, long windowEndMillis) {
    if (units > 0) {
      listener.gaveBack(units);
      LeaseAsk lease = request(cell, UnitsWanted.of(units, windowEndMillis), DataLoss.REFILL);
      outstanding.begun();
      giveBack(lease, windowEndMillis, units).whenComplete((_, _) -> outstanding.answered());
    }
  }

  private CompletionStage<?> giveBack(LeaseAsk lease, long windowEndMillis, long units) {
    try {
      return source.giveBack(lease, windowEndMillis, units);
    } catch (RuntimeException refused) {
      return CompletableFuture.failedFuture(refused);
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

  private void sweepLater() {
    long sweeps = Math.clamp(Math.ceilDiv(cells.estimatedSize(), SWEEP_CELLS), 1, MOST_SWEEPS);
    timer.runAfter(
        SWEEP_NANOS / sweeps,
        () -> {
          if (closed.get()) {
            return;
          }
          try {
            sweep();
          } finally { // one that fails is not the last
            sweepLater();
          }
        });
  }

  private LeaseCell newCell(Charge charge, Tier.Leasing tier) {
    FixedWindow window = (FixedWindow) charge.algorithm();
    LeaseSizer sizer = LeaseSizer.of(tier.size(), Math.max(1, window.limit()));
    return switch (tier) {
      case Tier.Leased leased -> new StoreCell(charge.key(), window, leased, sizer, now());
      case Tier.Global global -> new GlobalCell(charge.key(), window, global, sizer, now());
    };
  }

  private long now() {
    return time.monotonicNanos();
  }
}
