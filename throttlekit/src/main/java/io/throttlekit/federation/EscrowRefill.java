package io.throttlekit.federation;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;

/**
 * Units to put into an escrow.
 *
 * @param id unique among the refills of this counter and window, so that a repeated refill counts
 *     once
 * @param windowEndMillis end of their window by the coordinator's clock, which names the window
 * @param beginsMillis from when on they can be spent, by the escrow's clock, in ms since the epoch;
 *     no earlier than the window begins
 * @param endsMillis from when on they cannot be spent, by the escrow's clock; no later than the
 *     window ends
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
