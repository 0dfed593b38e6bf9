package io.throttlekit.limiter.tenants;

/**
 * A tenant of a limiter, for display.
 *
 * @param name comes from requests
 */
public record TenantState(String name, TenantFigures figures) {}
