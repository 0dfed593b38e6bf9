package io.throttlekit.store;

/**
 * A granted lease.
 *
 * @param units granted, from 0 to the requested units
 * @param windowEndMillis end of their window by the store's clock, in ms since the epoch; they
 *     expire then
 * @param storeNowMillis the store's clock at the time of the grant, rounded down
 * @param left units that are left in the window after this grant
 */
public record Grant(long units, long windowEndMillis, long storeNowMillis, long left) {}
