package io.throttlekit.lease;

import java.util.List;

/**
 * The result of a lease that has ended.
 *
 * @param waiting the requests that waited for it, in order of arrival
 * @param end the result to notify them of
 * @param unspendable units that could not be credited
 */
public record Completed(List<LeaseWaiter> waiting, LeaseWaiter.End end, long unspendable) {}
