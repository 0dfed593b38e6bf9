package io.throttlekit.simulator.fairness;

/**
 * Requests of one tenant that arrive at random at a constant rate.
 *
 * @param fromMillis when it begins
 * @param untilMillis when it ends
 * @param perSecond requests per second
 */
record Demand(long fromMillis, long untilMillis, double perSecond) {}
