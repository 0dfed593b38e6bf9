package io.throttlekit.federation;

import io.throttlekit.Cost;
import io.throttlekit.DataLoss;

/**
 * A region's wish for units of a budget.
 *
 * @param region who wants them
 * @param windowEndMillis end of the window that they are for, by the coordinator's clock, in ms
 *     since the epoch: the one that lasts, or the next; {@link #CURRENT} for the one that lasts
 * @param units how many, from 1
 * @param onDataLoss what it means for a window that lasts when the coordinator loses its data
 */
public record BudgetLease(
    Budget budget, String region, long windowEndMillis, long units, DataLoss onDataLoss) {
  /** The window that lasts when the coordinator is asked. */
  public static final long CURRENT = 0;

  /** Checks the range. */
  public BudgetLease {
    if (units < 1 || units > Cost.MAX) {
      throw new IllegalArgumentException("units must be from 1 to 2^53-1, was " + units);
    }
  }
}
