package io.throttlekit.descriptors;

/**
 * How policies are loaded.
 *
 * @param mergeDomains whether several sources may add descriptors to one domain; otherwise that is
 *     an error
 */
public record LoadOptions(boolean mergeDomains) {}
