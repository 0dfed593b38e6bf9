package io.throttlekit.tier;

import java.util.List;

/**
 * What a lease that has ended left to do.
 *
 * @param waiting who waited for it, the first one first
 * @param end what to tell them
 * @param unspendable units that could not be credited
 */
record Completed(List<LeaseWaiter> waiting, LeaseWaiter.End end, long unspendable) {}
