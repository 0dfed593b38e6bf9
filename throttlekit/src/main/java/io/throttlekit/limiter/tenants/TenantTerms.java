package io.throttlekit.limiter.tenants;

import io.throttlekit.fairness.FairTerms;
import java.util.concurrent.TimeUnit;

/**
 * How tenants share a concurrency limit.
 *
 * @param unlistedMillionths the most that the parts of all tenants without a listed weight are
 *     together while tenants with one are active, in millionths of the limit, from 0 to {@link
 *     FairTerms#ALL}
 * @param maxIdle the most tenants without a request in flight or waiting that are remembered, from
 *     1 to {@link FairTerms#MAX_TENANTS}
 * @param activeNanos how long a tenant is active after its last request has come or ended, from 1
 */
public record TenantTerms(int unlistedMillionths, int maxIdle, long activeNanos) {

  /**
   * The usual {@code activeNanos}. Longer than the pauses of a busy tenant, and short, because the
   * part of a tenant that has left is not lent before.
   */
  public static final long ACTIVE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long MAX_NANOS = Long.MAX_VALUE / 2; // differences of times do not overflow

  /** Checks the ranges. */
  public TenantTerms {
    if (unlistedMillionths < 0 || unlistedMillionths > FairTerms.ALL) {
      throw new IllegalArgumentException(
          "unlisted part must be from 0 to 1000000 millionths, was " + unlistedMillionths);
    }
    if (maxIdle < 1 || maxIdle > FairTerms.MAX_TENANTS || activeNanos < 1) {
      throw new IllegalArgumentException(
          "idle tenants must be from 1 to 2^20 and nanos at least 1, were %d and %d"
              .formatted(maxIdle, activeNanos));
    }
    activeNanos = Math.min(activeNanos, MAX_NANOS);
  }
}
