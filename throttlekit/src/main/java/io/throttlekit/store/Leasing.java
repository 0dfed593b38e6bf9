package io.throttlekit.store;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;

/** Leases and returns units of a window, as charges on a counter. */
final class Leasing {
  private Leasing() {}

  /** Decides and counts one charge at the time of the lease. */
  @FunctionalInterface
  interface Decides {
    Decision decide(Charge charge);
  }

  static LeaseGrant grant(LeaseRequest request, long nowMillis, Decides counters) {
    // Another lease may come between two attempts; then less is left.
    for (long wanted = request.units(); ; ) {
      Decision decision =
          counters.decide(new Charge(request.key(), request.window(), wanted, Overrun.REFUSE));
      long granted = decision.admitted() ? wanted : 0;
      if (granted > 0 || decision.remaining() == 0) {
        return new LeaseGrant(
            granted, nowMillis + decision.resetAfterMillis(), nowMillis, decision.remaining());
      }
      wanted = Math.min(wanted, decision.remaining());
    }
  }

  /** Returns what is left, with a grant of no units. */
  static LeaseGrant look(LeaseRequest request, long nowMillis, Decides counters) {
    Charge look = new Charge(request.key(), request.window(), 0, Overrun.COUNT);
    Decision decision = counters.decide(look);
    long end = nowMillis + decision.resetAfterMillis();
    return new LeaseGrant(0, end, nowMillis, decision.remaining());
  }

  static void returnUnits(
      LeaseRequest lease, long windowEndMillis, long units, long nowMillis, Decides counters) {
    Charge look = new Charge(lease.key(), lease.window(), 0, Overrun.COUNT);
    // Units of another window must not be refunded to this one.
    if (nowMillis + counters.decide(look).resetAfterMillis() == windowEndMillis) {
      counters.decide(new Charge(lease.key(), lease.window(), -units, Overrun.REFUSE));
    }
  }
}
