package io.throttlekit.federation;

import io.throttlekit.Cost;

/**
 * Units of a grant that a region did not spend.
 *
 * @param region who leased them
 * @param id no other return of this region for this window has it: one that is sent twice counts
 *     once
 * @param windowEndMillis of the grant, by the coordinator's clock
 * @param units how many, from 1
 */
public record BudgetReturn(
    Budget budget, String region, String id, long windowEndMillis, long units) {

  /** Checks the range. */
  public BudgetReturn {
    if (units < 1 || units > Cost.MAX) {
      throw new IllegalArgumentException("units must be from 1 to 2^53-1, was " + units);
    }
  }
}
