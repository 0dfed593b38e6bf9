package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.store.CallRecords;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.Terms;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A coordinator in the memory of one process: the reference implementation, sufficient where all
 * regions are one process. Answers before its methods return. Thread-safe.
 *
 * <p>It never evicts a budget that still counts. When full, it refuses other budgets until windows
 * end. A budget that tenants share takes as much again for each of them, up to their bound.
 */
public final class InMemoryCoordinator implements GlobalCoordinator {
  /** The most budgets, each below 1 KB: about 100 MB, which a process of usual size can hold. */
  private static final int MAX_BUDGETS = 100_000;

  /** Fewer budgets are not searched for ended windows. */
  private static final int MIN_SWEPT = 1_000;

  private final TimeSource time;
  private final Map<CounterKey, Map<String, Agreement>> agreements = new HashMap<>();
  private final Map<CounterKey, TreeMap<Long, BudgetWindow>> windows = new HashMap<>();

  /** The coordinator's clock, which only moves forward. */
  private long nowMillis = Long.MIN_VALUE;

  /** The number of budgets from which on ended ones are searched for. */
  private int sweepFrom = MIN_SWEPT;

  /** While full: the end of the first window, before which another search is in vain. */
  private long fullUntilMillis = Long.MIN_VALUE;

  /** A region's terms in effect, until when they are, and the terms of its last request. */
  private record Agreement(Terms terms, long untilMillis, Terms requested) {
    boolean allows(Terms others) {
      return terms.equals(others) || requested.equals(others);
    }
  }

  /** Creates a coordinator whose windows follow the wall clock of {@code time}. */
  public InMemoryCoordinator(TimeSource time) {
    this.time = time;
  }

  @Override
  public synchronized CompletionStage<LeaseGrant> lease(BudgetLease lease) {
    Budget budget = lease.budget();
    long length = budget.window().windowMillis();
    long now = now();
    long current = budget.window().endMillis(now);
    long wanted =
        lease.windowEndMillis() == BudgetLease.CURRENT ? current : lease.windowEndMillis();
    // Only the current and the next window can be leased.
    if (wanted != current && wanted != current + length) {
      return CompletableFuture.completedFuture(new LeaseGrant(0, wanted, now, 0));
    }
    if (!windows.containsKey(budget.key()) && !hasRoom(now)) {
      return CompletableFuture.failedFuture(
          new StoreException(
              "the coordinator in memory already keeps " + MAX_BUDGETS + " budgets", null));
    }
    TermsMismatchException mismatch = agree(budget, lease.region(), now, wanted);
    if (mismatch != null) {
      return CompletableFuture.failedFuture(mismatch);
    }
    TreeMap<Long, BudgetWindow> ofBudget =
        windows.computeIfAbsent(budget.key(), _ -> new TreeMap<>());
    dropEnded(ofBudget, now);
    BudgetWindow before = ofBudget.get(wanted - length);
    BudgetWindow window =
        ofBudget.computeIfAbsent(wanted, end -> new BudgetWindow(lease, end, before));
    BudgetWindow next = ofBudget.get(wanted + length);
    return CallRecords.stage(() -> {
      LeaseGrant grant = window.lease(lease, now);
      if (lease.tenant() != null && next != null) {
        next.expect(lease.tenant());
      }
      return grant;
    });
  }

  private static void dropEnded(Map<Long, BudgetWindow> ofBudget, long now) {
    ofBudget.values().removeIf(window -> window.keptUntilMillis() <= now);
  }

  /** Returns whether another budget fits, after budgets whose windows have ended were removed. */
  private boolean hasRoom(long now) {
    if (windows.size() < sweepFrom) {
      return true;
    }
    if (now < fullUntilMillis) {
      return false;
    }
    windows
        .values()
        .removeIf(ofBudget -> {
          dropEnded(ofBudget, now);
          return ofBudget.isEmpty();
        });
    agreements
        .values()
        .removeIf(byRegion -> {
          byRegion.values().removeIf(each -> each.untilMillis() <= now);
          return byRegion.isEmpty();
        });
    // Doubling spreads the cost of a search over as many new budgets.
    sweepFrom = Math.clamp(2L * windows.size(), MIN_SWEPT, MAX_BUDGETS);
    boolean room = windows.size() < MAX_BUDGETS;
    LongStream ends =
        windows.values().stream()
            .mapToLong(ofBudget -> ofBudget.firstEntry().getValue().keptUntilMillis());
    fullUntilMillis = room ? Long.MIN_VALUE : ends.min().orElseThrow();
    return room;
  }

  /** Returns the number of budgets kept. */
  synchronized int size() {
    return Math.max(windows.size(), agreements.size());
  }

  /** Returns the number of tenants and budgets whose calls are recorded. */
  synchronized int recorded() {
    return windows.values().stream()
        .flatMap(ofBudget -> ofBudget.values().stream())
        .mapToInt(BudgetWindow::recorded)
        .sum();
  }

  /** Checks a region's terms against those of the others, each until its last window ends. */
  private @Nullable TermsMismatchException agree(
      Budget budget, String region, long now, long windowEnd) {
    Map<String, Agreement> byRegion =
        agreements.computeIfAbsent(budget.party(), _ -> new TreeMap<>());
    byRegion.values().removeIf(each -> each.untilMillis() <= now);
    Terms terms = budget.terms();
    TermsMismatchException mismatch = mismatch(byRegion, region, terms);
    if (mismatch != null) {
      // Recorded even when refused: the last region to request the new terms then succeeds.
      byRegion.computeIfPresent(
          region, (_, each) -> new Agreement(each.terms(), each.untilMillis(), terms));
      return mismatch;
    }
    byRegion.replaceAll((_, each) ->
        each.terms().equals(terms) ? each : new Agreement(terms, each.untilMillis(), terms));
    Agreement own = byRegion.get(region);
    long until = own == null ? windowEnd : Math.max(own.untilMillis(), windowEnd);
    byRegion.put(region, new Agreement(terms, until, terms));
    return null;
  }

  private static @Nullable TermsMismatchException mismatch(
      Map<String, Agreement> byRegion, String region, Terms terms) {
    return byRegion.entrySet().stream()
        .filter(other -> !other.getKey().equals(region) && !other.getValue().allows(terms))
        .findFirst()
        .map(other ->
            new TermsMismatchException(
                region,
                terms,
                other.getKey(),
                other.getValue().terms(),
                other.getValue().requested()))
        .orElse(null);
  }

  @Override
  public synchronized CompletionStage<Boolean> reconcile(BudgetReturn units) {
    TreeMap<Long, BudgetWindow> ofBudget = windows.get(units.budget().key());
    BudgetWindow window = ofBudget == null ? null : ofBudget.get(units.windowEndMillis());
    long now = now();
    if (window == null || units.windowEndMillis() <= now) {
      return CompletableFuture.completedFuture(false);
    }
    window.reconcile(units, now);
    return CompletableFuture.completedFuture(true);
  }

  @Override
  public synchronized CompletionStage<Long> health() {
    return CompletableFuture.completedFuture(now());
  }

  @Override
  public void close() {}

  /** Returns the leased units of each window, and the regions' terms. */
  @Override
  public synchronized String toString() {
    return windows + ", agreed " + agreements;
  }

  private long now() {
    // A wall clock that steps back must not reopen an ended window.
    nowMillis = Math.max(nowMillis, time.wallMillis());
    return nowMillis;
  }
}
