package io.throttlekit.federation;

/**
 * What an escrow gave.
 *
 * @param units from 0 to what was wanted
 * @param windowEndMillis end of their window by the coordinator's clock: its name
 * @param beginsMillis when their window has begun for certain, by the escrow's clock, in ms since
 *     the epoch
 * @param endsMillis from when on they cannot be spent, by the escrow's clock
 * @param nowMillis the escrow's clock when it gave them, rounded down
 * @param left units that were still there
 */
public record EscrowGrant(
    long units,
    long windowEndMillis,
    long beginsMillis,
    long endsMillis,
    long nowMillis,
    long left) {

  /** Of an escrow that holds nothing of the window that lasts. */
  public static EscrowGrant nothing(long nowMillis) {
    return new EscrowGrant(0, 0, 0, 0, nowMillis, 0);
  }
}
