package io.throttlekit.limiter.tenants;

import io.throttlekit.fairness.TenantWeight;

/**
 * The tenant of a request for a permit.
 *
 * @param name unique among the tenants of a limiter
 * @param weight of the tenant from this request on
 */
public record PermitTenant(String name, TenantWeight weight) {

  /** The tenant of all requests without one. */
  public static final PermitTenant UNNAMED = new PermitTenant("", TenantWeight.unlisted(1));
}
