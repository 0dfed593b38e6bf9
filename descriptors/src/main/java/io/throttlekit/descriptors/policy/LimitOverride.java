package io.throttlekit.descriptors.policy;

/**
 * A limit that a request brings for one of its descriptors, instead of the rule in the policies.
 *
 * @param requestsPerUnit units per window, from 0 (refuse everything)
 * @param unit the window
 */
public record LimitOverride(long requestsPerUnit, LimitUnit unit) {}
