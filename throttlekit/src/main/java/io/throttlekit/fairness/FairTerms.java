package io.throttlekit.fairness;

import io.throttlekit.Cost;

/**
 * Limit of a pool, and how its tenants share it.
 *
 * <p>Costs and counts are in <em>parts</em> of a unit: with {@code partsPerUnit} 1000, a cost of
 * 250 is a quarter of a unit. Guarantees are whole units whatever the parts are, so the same costs
 * in finer parts have the same decisions.
 *
 * @param limit units per window, from 0; with its parts at most {@link Cost#MAX}
 * @param windowMillis length of a window in ms, from 1
 * @param partsPerUnit parts of a unit, from 1, which is for whole costs
 * @param unlistedMillionths the most that all tenants without a listed weight are guaranteed
 *     together while tenants with one are active, in millionths of the limit, from 0 to {@link
 *     #ALL}
 * @param maxTenants the most tenants that are remembered, from 1 to {@link #MAX_TENANTS}
 */
public record FairTerms(
    long limit, long windowMillis, long partsPerUnit, int unlistedMillionths, int maxTenants) {

  /** The whole limit, in millionths. */
  public static final int ALL = 1_000_000;

  /** The largest {@code maxTenants}: 2^20. */
  public static final int MAX_TENANTS = 1 << 20;

  private static final int DEFAULT_TENANTS = 100_000;

  /** Checks the ranges. */
  public FairTerms {
    if (partsPerUnit < 1 || limit < 0 || limit > Cost.MAX / partsPerUnit) {
      throw new IllegalArgumentException(
          "limit must be from 0 to 2^53-1 parts, was %d units of %d parts"
              .formatted(limit, partsPerUnit));
    }
    if (windowMillis < 1 || windowMillis > Cost.MAX) {
      throw new IllegalArgumentException(
          "window must be from 1 ms to 2^53-1 ms, was " + windowMillis);
    }
    if (unlistedMillionths < 0 || unlistedMillionths > ALL) {
      throw new IllegalArgumentException(
          "unlisted part must be from 0 to 1000000 millionths, was " + unlistedMillionths);
    }
    if (maxTenants < 1 || maxTenants > MAX_TENANTS) {
      throw new IllegalArgumentException("max tenants must be from 1 to 2^20, was " + maxTenants);
    }
  }

  /** Creates terms for whole costs, 100,000 tenants, and half of the limit for unlisted ones. */
  public static FairTerms of(long limit, long windowMillis) {
    return new FairTerms(limit, windowMillis, 1, ALL / 2, DEFAULT_TENANTS);
  }

  /** Returns these terms with another limit. */
  public FairTerms withLimit(long units) {
    return new FairTerms(units, windowMillis, partsPerUnit, unlistedMillionths, maxTenants);
  }

  /** Returns these terms with another bound on the number of tenants. */
  public FairTerms withMaxTenants(int tenants) {
    return new FairTerms(limit, windowMillis, partsPerUnit, unlistedMillionths, tenants);
  }

  /** Returns these terms with another part for tenants without a listed weight. */
  public FairTerms withUnlistedMillionths(int millionths) {
    return new FairTerms(limit, windowMillis, partsPerUnit, millionths, maxTenants);
  }

  /** Returns these terms with another resolution of costs. */
  public FairTerms withPartsPerUnit(long parts) {
    return new FairTerms(limit, windowMillis, parts, unlistedMillionths, maxTenants);
  }

  /** Returns the limit in parts. */
  public long limitParts() {
    return limit * partsPerUnit;
  }
}
