package io.throttlekit.limiter.tenants;

/**
 * A snapshot of the tenants of a limiter.
 *
 * @param tenants active tenants
 * @param reserved permits of their parts that are not in use
 * @param borrowed requests in flight above the parts of their tenants
 */
public record ShareFigures(int tenants, long reserved, long borrowed) {}
