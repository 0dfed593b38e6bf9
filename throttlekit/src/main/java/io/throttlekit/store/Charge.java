package io.throttlekit.store;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import org.jspecify.annotations.Nullable;

/**
 * A cost to charge to one counter.
 *
 * @param key counter
 * @param algorithm rate-limit algorithm of the counter
 * @param cost units: above 0 a charge, 0 a peek that consumes nothing, below 0 a refund of so many
 *     units, which never brings the counter below unused and is always admitted
 * @param overrun treatment of a cost that exceeds the remaining units
 * @param tenant the tenant that is charged, of a fixed window that tenants share; absent for all
 *     other counters. All charges of such a counter have one, and its key is in a scope of its own
 */
public record Charge(
    CounterKey key,
    RateAlgorithm<?> algorithm,
    long cost,
    Overrun overrun,
    @Nullable FairTenant tenant) {

  /** Creates a charge on a counter that no tenants share. */
  public Charge(CounterKey key, RateAlgorithm<?> algorithm, long cost, Overrun overrun) {
    this(key, algorithm, cost, overrun, null);
  }

  /** Checks the range of the cost. */
  public Charge {
    if (tenant != null && !(algorithm instanceof FixedWindow)) {
      throw new IllegalArgumentException("only a fixed window can be shared by tenants");
    }
    if (cost > Cost.MAX || cost < -Cost.MAX) {
      throw new IllegalArgumentException("cost must be from -(2^53-1) to 2^53-1, was " + cost);
    }
  }

  /** Returns the key of what is charged: the tenant's, or the counter's if no tenants share it. */
  public CounterKey chargedKey() {
    return tenant == null ? key : tenant.key();
  }

  /** Returns this charge with another cost. */
  Charge withCost(long other, Overrun treatment) {
    return new Charge(key, algorithm, other, treatment, tenant);
  }
}
