package io.throttlekit.tier;

/**
 * Units that nobody spent.
 *
 * @param windowEndMillis of the window that they belong to, by the store's clock
 */
record Leftover(long units, long windowEndMillis) {}
