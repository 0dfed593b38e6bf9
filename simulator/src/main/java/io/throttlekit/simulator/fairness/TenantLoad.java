package io.throttlekit.simulator.fairness;

import java.util.List;

/**
 * A tenant and its demand.
 *
 * @param weight from 1
 * @param demands in order of time, without overlap
 */
record TenantLoad(String name, long weight, List<Demand> demands) {

  /** Copies the list. */
  TenantLoad {
    demands = List.copyOf(demands);
  }

  /** Creates a tenant with one demand. */
  static TenantLoad of(
      String name, long weight, long fromMillis, long untilMillis, double perSecond) {
    return new TenantLoad(name, weight, List.of(new Demand(fromMillis, untilMillis, perSecond)));
  }
}
