package io.throttlekit.store;

/**
 * What a store gave of a lease.
 *
 * @param units granted, from 0 to what was wanted
 * @param windowEndMillis end of the window that they belong to, by the store's clock, in ms since
 *     the epoch: from then on they are worth nothing
 * @param storeNowMillis the store's clock when it granted them, rounded down
 * @param left units that were still left in the window after this grant
 */
public record Grant(long units, long windowEndMillis, long storeNowMillis, long left) {}
