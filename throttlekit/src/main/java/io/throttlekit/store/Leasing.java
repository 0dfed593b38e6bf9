package io.throttlekit.store;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairPool;
import io.throttlekit.fairness.FairTenant;
import java.util.function.Function;

/**
 * Leases and returns units of a window, as charges on a counter: {@code counters} decides and
 * counts one at the time of the lease.
 */
final class Leasing {
  private Leasing() {}

  static LeaseGrant grant(
      LeaseRequest request, long nowMillis, Function<Charge, Decision> counters) {
    // Another lease may come between two attempts; then less is left.
    for (long wanted = request.units(); ; ) {
      Decision decision = counters.apply(request.charge(wanted, Overrun.REFUSE));
      long granted = decision.admitted() ? wanted : 0;
      if (granted > 0 || decision.remaining() <= 0) {
        return granted(granted, decision, request.tenant() != null, nowMillis);
      }
      wanted = Math.min(wanted, decision.remaining());
    }
  }

  /** Returns a grant to a tenant, which has what it may take under one lock of the counter. */
  static LeaseGrant ofTenant(FairPool pool, LeaseRequest request, FairTenant tenant, long now) {
    long units = pool.lease(tenant, request.units(), now);
    return granted(units, pool.look(tenant, Overrun.COUNT, now), true, now);
  }

  /** Returns the grant of a repeated call: its units, with what is left now. */
  static LeaseGrant granted(
      LeaseRequest request, long units, long nowMillis, Function<Charge, Decision> counters) {
    Decision rest = counters.apply(request.charge(0, Overrun.COUNT));
    return granted(units, rest, request.tenant() != null, nowMillis);
  }

  private static LeaseGrant granted(long units, Decision rest, boolean shared, long nowMillis) {
    LeaseGrant grant =
        new LeaseGrant(units, nowMillis + rest.resetAfterMillis(), nowMillis, rest.remaining());
    return shared ? grant.withLimit(rest.limit()) : grant;
  }

  /** Returns units of a counter that no tenants share. */
  static void returnUnits(
      LeaseRequest lease,
      long windowEndMillis,
      long units,
      long nowMillis,
      Function<Charge, Decision> counters) {
    Charge look = lease.charge(0, Overrun.COUNT);
    // Units of another window must not be refunded to this one.
    if (nowMillis + counters.apply(look).resetAfterMillis() == windowEndMillis) {
      var _ = counters.apply(lease.charge(-units, Overrun.REFUSE));
    }
  }
}
