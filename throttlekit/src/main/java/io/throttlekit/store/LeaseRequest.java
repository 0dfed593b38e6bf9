package io.throttlekit.store;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.rate.FixedWindow;
import org.jspecify.annotations.Nullable;

/**
 * A wish for units of one counter, to be spent elsewhere.
 *
 * @param key the counter, the same as for charges
 * @param window its limit
 * @param units how many are wanted, from 1
 * @param onDataLoss what a loss of the store's counters means for it
 * @param id under which the same request takes effect once; absent for one that is not sent again
 */
public record LeaseRequest(
    CounterKey key, FixedWindow window, long units, DataLoss onDataLoss, @Nullable CallId id) {

  /** A request that is not sent again. */
  public LeaseRequest(CounterKey key, FixedWindow window, long units, DataLoss onDataLoss) {
    this(key, window, units, onDataLoss, null);
  }

  /** Checks the range. */
  public LeaseRequest {
    if (units < 1 || units > Cost.MAX) {
      throw new IllegalArgumentException("units must be from 1 to 2^53-1, was " + units);
    }
  }
}
