package io.throttlekit.federation;

/**
 * What an escrow gave.
 *
 * @param units from 0 to what was wanted
 * @param windowEndMillis end of their window by the coordinator's clock: its name
 * @param endsMillis from when on they cannot be spent, by the escrow's clock, in ms since the epoch
 * @param nowMillis the escrow's clock when it gave them, rounded down
 * @param left units that were still there
 */
public record EscrowGrant(
    long units, long windowEndMillis, long endsMillis, long nowMillis, long left) {}
