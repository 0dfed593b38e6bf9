package io.throttlekit.service.config;

/**
 * Switches for behaviour in which envoyproxy/ratelimit differs.
 *
 * @param chargeRejected whether refused requests are charged
 * @param shadowMode whether requests are never refused, only reported
 * @param quotaMode whether a request is refused only when all its descriptors are
 */
public record CompatibilityConfig(boolean chargeRejected, boolean shadowMode, boolean quotaMode) {}
