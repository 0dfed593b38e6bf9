package io.throttlekit.store;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import java.util.function.Function;

/**
 * Leases and returns units of a window, as charges on a counter: {@code counters} decides and
 * counts one at the time of the lease.
 */
final class Leasing {
  private Leasing() {}

  static LeaseGrant grant(
      LeaseRequest request, long nowMillis, Function<Charge, Decision> counters) {
    if (request.tenant() != null) {
      return grantToTenant(request, nowMillis, counters);
    }
    // Another lease may come between two attempts; then less is left.
    for (long wanted = request.units(); ; ) {
      Decision decision = counters.apply(request.charge(wanted, Overrun.REFUSE));
      long granted = decision.admitted() ? wanted : 0;
      if (granted > 0 || decision.remaining() == 0) {
        return new LeaseGrant(
            granted, nowMillis + decision.resetAfterMillis(), nowMillis, decision.remaining());
      }
      wanted = Math.min(wanted, decision.remaining());
    }
  }

  /**
   * Grants what the tenant may take now. A refusal's {@code remaining} may have been used by
   * others, so what is left is read before each attempt.
   */
  private static LeaseGrant grantToTenant(
      LeaseRequest request, long nowMillis, Function<Charge, Decision> counters) {
    Charge look = request.charge(0, Overrun.COUNT);
    while (true) {
      long left = counters.apply(look).remaining();
      // A tenant that gets nothing is active all the same, because it has requested units.
      long wanted = Math.max(1, Math.min(request.units(), left));
      Decision decision = counters.apply(request.charge(wanted, Overrun.REFUSE));
      if (decision.admitted() || left == 0) {
        Decision after = counters.apply(look);
        return new LeaseGrant(
                decision.admitted() ? wanted : 0,
                nowMillis + after.resetAfterMillis(),
                nowMillis,
                after.remaining())
            .withLimit(after.limit());
      }
    }
  }

  /** Returns the grant of a repeated call: its units, with what is left now. */
  static LeaseGrant granted(
      LeaseRequest request, long units, long nowMillis, Function<Charge, Decision> counters) {
    Decision rest = counters.apply(request.charge(0, Overrun.COUNT));
    LeaseGrant grant =
        new LeaseGrant(units, nowMillis + rest.resetAfterMillis(), nowMillis, rest.remaining());
    return request.tenant() == null ? grant : grant.withLimit(rest.limit());
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
