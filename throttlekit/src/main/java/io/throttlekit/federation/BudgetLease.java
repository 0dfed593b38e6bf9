package io.throttlekit.federation;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.store.CallId;
import org.jspecify.annotations.Nullable;

/**
 * A region's request for units of a budget.
 *
 * @param region the requesting region
 * @param windowEndMillis end of the requested window, by the coordinator's clock, in ms since the
 *     epoch: of the current window or the next; {@link #CURRENT} for the current one
 * @param units requested units, from 1
 * @param onDataLoss the policy for a current window whose data the coordinator loses
 * @param id makes a repeated request take effect once; absent if it is never repeated
 * @param tenant the tenant that leases, of a budget that tenants share; absent for all others. All
 *     leases of such a budget have one, and its key is in a scope of its own
 */
public record BudgetLease(
    Budget budget,
    String region,
    long windowEndMillis,
    long units,
    DataLoss onDataLoss,
    @Nullable CallId id,
    @Nullable FairTenant tenant) {
  /** The window that is current when the coordinator reads the request. */
  public static final long CURRENT = 0;

  /** Creates a request that is never repeated. */
  public BudgetLease(
      Budget budget, String region, long windowEndMillis, long units, DataLoss onDataLoss) {
    this(budget, region, windowEndMillis, units, onDataLoss, null, null);
  }

  /** Creates a request for a budget that no tenants share. */
  public BudgetLease(
      Budget budget,
      String region,
      long windowEndMillis,
      long units,
      DataLoss onDataLoss,
      @Nullable CallId id) {
    this(budget, region, windowEndMillis, units, onDataLoss, id, null);
  }

  /** Returns the key under which ids of calls are recorded: each tenant's calls have their own. */
  public CounterKey callKey() {
    return tenant == null ? budget.key() : tenant.key();
  }

  /** Checks the range. */
  public BudgetLease {
    if (units < 1 || units > Cost.MAX) {
      throw new IllegalArgumentException("units must be from 1 to 2^53-1, was " + units);
    }
  }
}
