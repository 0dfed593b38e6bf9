package io.throttlekit.federation;

import io.throttlekit.Cost;
import io.throttlekit.fairness.FairTenant;
import org.jspecify.annotations.Nullable;

/**
 * Units of a grant that a region did not spend.
 *
 * @param region the region that leased them
 * @param id unique among this region's returns for this window, so that a repeated return counts
 *     once
 * @param windowEndMillis of the grant, by the coordinator's clock
 * @param units from 1
 * @param tenant the tenant that leased them, as for {@link BudgetLease}
 */
public record BudgetReturn(
    Budget budget,
    String region,
    String id,
    long windowEndMillis,
    long units,
    @Nullable FairTenant tenant) {

  /** Creates a return to a budget that no tenants share. */
  public BudgetReturn(Budget budget, String region, String id, long windowEndMillis, long units) {
    this(budget, region, id, windowEndMillis, units, null);
  }

  /** Checks the range. */
  public BudgetReturn {
    if (units < 1 || units > Cost.MAX) {
      throw new IllegalArgumentException("units must be from 1 to 2^53-1, was " + units);
    }
  }
}
