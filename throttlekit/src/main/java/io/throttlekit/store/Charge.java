package io.throttlekit.store;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.rate.RateAlgorithm;

/**
 * A cost to charge to one counter.
 *
 * @param key counter
 * @param algorithm rate-limit algorithm of the counter
 * @param cost units: above 0 a charge, 0 a peek that consumes nothing, below 0 a refund of so many
 *     units, which never brings the counter below unused and is always admitted
 * @param overrun treatment of a cost that exceeds the remaining units
 */
public record Charge(CounterKey key, RateAlgorithm<?> algorithm, long cost, Overrun overrun) {

  /** Checks the range of the cost. */
  public Charge {
    if (cost > Cost.MAX || cost < -Cost.MAX) {
      throw new IllegalArgumentException("cost must be from -(2^53-1) to 2^53-1, was " + cost);
    }
  }
}
