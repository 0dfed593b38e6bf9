package io.throttlekit.fairness;

/**
 * The weight of a tenant, in proportion to those of the other tenants of a pool.
 *
 * <p>Fractional weights are multiplied by a common factor: weights of 0.5 and 1.25 share a pool
 * exactly as 2 and 5 do.
 *
 * @param value from 1 to {@link #MAX}
 * @param listed whether the operator has named this weight. Tenants without a listed weight may be
 *     invented by clients; all of them together are guaranteed a bounded part, see {@link
 *     FairTerms#unlistedMillionths}.
 */
public record TenantWeight(long value, boolean listed) {

  /** The largest weight: those of {@link FairTerms#MAX_TENANTS} tenants add up without overflow. */
  public static final long MAX = 1L << 40;

  /** Checks the range. */
  public TenantWeight {
    if (value < 1 || value > MAX) {
      throw new IllegalArgumentException("weight must be from 1 to 2^40, was " + value);
    }
  }

  /** Creates a weight that the operator has named. */
  public static TenantWeight listed(long value) {
    return new TenantWeight(value, true);
  }

  /** Creates the weight of tenants that the operator has not named. */
  public static TenantWeight unlisted(long value) {
    return new TenantWeight(value, false);
  }
}
