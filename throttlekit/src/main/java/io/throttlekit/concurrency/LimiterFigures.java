package io.throttlekit.concurrency;

/**
 * What a limiter does now, to show it.
 *
 * @param ceiling how many may be in flight
 * @param inFlight how many permits are out; more than the ceiling for a while after it fell
 * @param queued how many wait
 * @param rejectionRate what part of the requests that find no room is refused, from 0 to 1
 */
public record LimiterFigures(int ceiling, int inFlight, int queued, double rejectionRate) {}
