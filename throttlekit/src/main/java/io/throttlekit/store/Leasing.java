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
    // Another lease may come between two attempts; then less is left.
    for (long wanted = request.units(); ; ) {
      Decision decision =
          counters.apply(new Charge(request.key(), request.window(), wanted, Overrun.REFUSE));
      long granted = decision.admitted() ? wanted : 0;
      if (granted > 0 || decision.remaining() == 0) {
        return new LeaseGrant(
            granted, nowMillis + decision.resetAfterMillis(), nowMillis, decision.remaining());
      }
      wanted = Math.min(wanted, decision.remaining());
    }
  }

  /** Returns the grant of a repeated call: its units, with what is left now. */
  static LeaseGrant granted(
      LeaseRequest request, long units, long nowMillis, Function<Charge, Decision> counters) {
    Decision rest = counters.apply(new Charge(request.key(), request.window(), 0, Overrun.COUNT));
    return new LeaseGrant(units, nowMillis + rest.resetAfterMillis(), nowMillis, rest.remaining());
  }

  static void returnUnits(
      LeaseRequest lease,
      long windowEndMillis,
      long units,
      long nowMillis,
      Function<Charge, Decision> counters) {
    Charge look = new Charge(lease.key(), lease.window(), 0, Overrun.COUNT);
    // Units of another window must not be refunded to this one.
    if (nowMillis + counters.apply(look).resetAfterMillis() == windowEndMillis) {
      var _ = counters.apply(new Charge(lease.key(), lease.window(), -units, Overrun.REFUSE));
    }
  }
}
