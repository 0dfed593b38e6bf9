package io.throttlekit.federation;

import io.throttlekit.Cost;
import io.throttlekit.DataLoss;
import io.throttlekit.store.CallId;
import org.jspecify.annotations.Nullable;

/**
 * A region's wish for units of a budget.
 *
 * @param region who wants them
 * @param windowEndMillis end of the window that they are for, by the coordinator's clock, in ms
 *     since the epoch: the one that lasts, or the next; {@link #CURRENT} for the one that lasts
 * @param units how many, from 1
 * @param onDataLoss what it means for a window that lasts when the coordinator loses its data
 * @param id under which the same lease takes effect once; absent for one that is not sent again
 */
public record BudgetLease(
    Budget budget,
    String region,
    long windowEndMillis,
    long units,
    DataLoss onDataLoss,
    @Nullable CallId id) {
  /** The window that lasts when the coordinator is asked. */
  public static final long CURRENT = 0;

  /** A lease that is not sent again. */
  public BudgetLease(
      Budget budget, String region, long windowEndMillis, long units, DataLoss onDataLoss) {
    this(budget, region, windowEndMillis, units, onDataLoss, null);
  }

  /** Checks the range. */
  public BudgetLease {
    if (units < 1 || units > Cost.MAX) {
      throw new IllegalArgumentException("units must be from 1 to 2^53-1, was " + units);
    }
  }
}
