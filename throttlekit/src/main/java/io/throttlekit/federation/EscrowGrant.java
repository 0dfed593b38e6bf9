package io.throttlekit.federation;

/**
 * A grant of an escrow.
 *
 * @param units from 0 to the requested units
 * @param windowEndMillis end of their window by the coordinator's clock, which names the window
 * @param beginsMillis when their window has certainly begun, by the escrow's clock, in ms since the
 *     epoch
 * @param endsMillis from when on they cannot be spent, by the escrow's clock
 * @param nowMillis the escrow's clock at the time of the grant, rounded down
 * @param left units that are still in the escrow
 */
public record EscrowGrant(
    long units,
    long windowEndMillis,
    long beginsMillis,
    long endsMillis,
    long nowMillis,
    long left) {

  /** Creates the grant of an escrow without units for the current window. */
  public static EscrowGrant nothing(long nowMillis) {
    return new EscrowGrant(0, 0, 0, 0, nowMillis, 0);
  }
}
