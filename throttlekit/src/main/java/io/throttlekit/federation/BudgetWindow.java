package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairPool;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.store.CallRecords;
import io.throttlekit.store.LeaseGrant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One window of a budget in an {@link InMemoryCoordinator}, with its tenants if they share it. Not
 * thread-safe.
 */
final class BudgetWindow {
  private final long beginMillis;
  private final long endMillis;

  /** The division among tenants; absent if none share the budget. */
  private final @Nullable FairPool pool;

  private long leased;
  private final Set<String> returned = new HashSet<>();

  /** Those of a pool: at most twice as many as tenants that it remembers. */
  private final Map<CounterKey, CallRecords> calls = new HashMap<>();

  /**
   * Creates a window without leases.
   *
   * @param before the window before, if it has leases
   */
  BudgetWindow(BudgetLease first, long endMillis, @Nullable BudgetWindow before) {
    this.beginMillis = endMillis - first.budget().window().windowMillis();
    this.endMillis = endMillis;
    FairTenant tenant = first.tenant();
    if (tenant == null) {
      this.pool = null;
    } else {
      FairPool earlier = before == null ? null : before.pool;
      this.pool = earlier == null ? new FairPool(tenant.terms()) : earlier.next();
    }
  }

  /** Returns until when this window is kept: of a pool, the next one needs its tenants. */
  long keptUntilMillis() {
    return pool == null ? endMillis : endMillis + (endMillis - beginMillis);
  }

  /** Leases once; a repeated call returns the same units. */
  LeaseGrant lease(BudgetLease lease, long now) {
    FairTenant tenant = lease.tenant();
    if (tenant == null) {
      checkNotShared();
      long limit = lease.budget().window().limit();
      long units = calls(lease).once(lease.id(), endMillis, () -> take(lease.units(), limit));
      return new LeaseGrant(units, endMillis, now, Math.max(0, limit - leased));
    }
    FairPool shared = shared();
    long at = Math.max(now, beginMillis); // it may be leased before it begins
    long units =
        calls(lease).once(lease.id(), endMillis, () -> shared.lease(tenant, lease.units(), at));
    dropEvicted(shared);
    Decision after = shared.look(tenant, Overrun.COUNT, at);
    return new LeaseGrant(units, endMillis, now, after.remaining()).withLimit(after.limit());
  }

  private CallRecords calls(BudgetLease lease) {
    return calls.computeIfAbsent(lease.callKey(), _ -> new CallRecords());
  }

  /**
   * Drops the records of evicted tenants, else each invented tenant would leave one. What a call
   * repeated after that is granted only remains unused.
   */
  private void dropEvicted(FairPool shared) {
    // Only once as many are evicted as remembered, because a search visits all.
    if (calls.size() > 2 * shared.size()) {
      calls.keySet().removeIf(tenant -> !shared.remembers(tenant));
    }
  }

  /** Returns the number of tenants or budgets whose calls are recorded. */
  int recorded() {
    return calls.size();
  }

  /** Makes a tenant active that has leased from the window before. */
  void expect(FairTenant tenant) {
    shared().expect(tenant);
  }

  /** Takes units back, each return once. */
  void reconcile(BudgetReturn units, long now) {
    // The length keeps region "a" with id "b1" apart from region "ab" with id "1".
    if (!returned.add(units.region().length() + ":" + units.region() + units.id())) {
      return;
    }
    FairTenant tenant = units.tenant();
    if (tenant == null) {
      checkNotShared();
      leased = Math.max(0, leased - units.units());
    } else {
      var _ = shared().refund(tenant, units.units(), endMillis, Math.max(now, beginMillis));
    }
  }

  private FairPool shared() {
    if (pool == null) {
      throw new IllegalArgumentException("no tenants share this budget");
    }
    return pool;
  }

  private void checkNotShared() {
    if (pool != null) {
      throw new IllegalArgumentException("tenants share this budget");
    }
  }

  private long take(long most, long limit) {
    // The limit may be lower now.
    long units = Math.min(most, Math.max(0, limit - leased));
    leased += units;
    return units;
  }

  @Override
  public String toString() {
    long units = pool == null ? leased : pool.used();
    String answered =
        calls.values().stream().map(CallRecords::toString).collect(Collectors.joining(" "));
    return units + " leased " + answered + ", returns " + returned;
  }
}
