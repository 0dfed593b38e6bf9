package io.throttlekit;

import io.throttlekit.rate.RateAlgorithm;

/**
 * A cost to count against one counter.
 *
 * @param key the counter
 * @param algorithm how that counter decides
 * @param cost units: above 0 a charge, 0 a peek that consumes nothing, below 0 a refund of so many
 *     units, which never brings the counter below unused and is always admitted
 * @param overrun what becomes of a cost beyond what is left
 */
public record Charge(CounterKey key, RateAlgorithm<?> algorithm, long cost, Overrun overrun) {

  /** Checks the range of the cost. */
  public Charge {
    Cost.check(cost);
  }
}
