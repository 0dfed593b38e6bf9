package io.throttlekit.fairness;

import io.throttlekit.CounterKey;

/**
 * The tenant of a charge on a pool, whose counter is the pool's.
 *
 * @param key of the tenant, in a scope that all tenants of a pool share and no counter has: the
 *     entries of the rule and the tenant's
 * @param weight of the tenant from this charge on
 * @param terms of the pool from this charge on; one object for each rule
 */
public record FairTenant(CounterKey key, TenantWeight weight, FairTerms terms) {}
