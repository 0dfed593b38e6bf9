package io.throttlekit.federation;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;

/**
 * Units for an escrow.
 *
 * @param id no other refill of this counter and window has it: one that is sent twice counts once
 * @param windowEndMillis end of their window by the coordinator's clock: its name
 * @param beginsMillis from when on they can be spent, by the escrow's clock, in ms since the epoch;
 *     no earlier than the window begins
 * @param endsMillis from when on they cannot, by the escrow's clock; no later than the window ends
 * @param units from 1
 */
public record EscrowRefill(
    CounterKey key,
    String id,
    long windowEndMillis,
    long beginsMillis,
    long endsMillis,
    long units) {

  /** Checks the ranges. */
  public EscrowRefill {
    if (units < 1 || units > Cost.MAX) {
      throw new IllegalArgumentException("units must be from 1 to 2^53-1, was " + units);
    }
    if (endsMillis < beginsMillis) {
      throw new IllegalArgumentException("a refill cannot end before it begins");
    }
  }
}
