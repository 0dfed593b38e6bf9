package io.throttlekit.store;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.rate.FixedWindow;
import org.jspecify.annotations.Nullable;

/**
 * A request for units of one counter, to be spent elsewhere.
 *
 * @param key the counter, the same as for charges
 * @param window its limit
 * @param units requested units, from 1
 * @param onDataLoss the policy for a loss of the store's counters
 * @param id makes a repeated request take effect once; absent if it is never repeated
 */
public record LeaseRequest(
    CounterKey key, FixedWindow window, long units, DataLoss onDataLoss, @Nullable CallId id) {

  /** Creates a request that is never repeated. */
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
