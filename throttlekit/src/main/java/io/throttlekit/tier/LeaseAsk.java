package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.rate.FixedWindow;

/**
 * A wish for units of one counter.
 *
 * @param key the counter
 * @param window its limit
 * @param tier how the limit is shared
 * @param onDataLoss what it means when whoever counts loses its data
 * @param windowEndMillis names the window that they are for by its end; {@link #CURRENT} for the
 *     one that lasts
 * @param units how many this process wants, from 1
 * @param size of its leases where no requests wait for more, from 1; the region's escrow is filled
 *     by so many
 * @param usable how many it may have use for in this window, as far as it can tell; at least {@code
 *     units}
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

  /** The window that lasts when the wish is read. */
  public static final long CURRENT = 0;
}
