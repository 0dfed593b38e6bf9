package io.throttlekit.limiter;

/**
 * A snapshot of a limiter, for display.
 *
 * @param limit concurrency limit
 * @param inFlight permits in use; above the limit for a while after it fell
 * @param queued waiting requests
 * @param rejectionRate share of the requests without a free permit that is refused, from 0 to 1
 */
public record LimiterFigures(int limit, int inFlight, int queued, double rejectionRate) {}
