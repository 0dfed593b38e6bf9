package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.rate.FixedWindow;

/**
 * A request for units of one counter.
 *
 * @param key the counter
 * @param window its limit
 * @param tier how the limit is shared
 * @param onDataLoss the policy for a loss of data in the store or coordinator
 * @param windowEndMillis the window to lease from, named by its end; {@link #CURRENT} for the
 *     current window
 * @param units requested units, from 1
 * @param size the usual lease size of this process when no requests wait for more, from 1; the
 *     region's escrow is refilled by this size
 * @param usable the units that this process can probably use in this window; at least {@code units}
 */
public record LeaseAsk(
    CounterKey key,
    FixedWindow window,
    Tier.Leasing tier,
    DataLoss onDataLoss,
    long windowEndMillis,
    long units,
    long size,
    long usable) {

  /** The window that is current when the store reads the request. */
  public static final long CURRENT = 0;
}
