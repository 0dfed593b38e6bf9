package io.throttlekit.store;

import io.throttlekit.Charge;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;

/** How units of a window are leased and given back, by charges that something else decides. */
final class Leasing {
  private Leasing() {}

  /** Decides and counts one charge at the moment of the lease. */
  @FunctionalInterface
  interface Decides {
    Decision decide(Charge charge);
  }

  static Grant grant(LeaseRequest request, long nowMillis, Decides counters) {
    // Another lease may come between the look and the charge; then what is left is less.
    for (long wanted = request.units(); ; ) {
      Decision decision =
          counters.decide(new Charge(request.key(), request.window(), wanted, Overrun.REFUSE));
      long granted = decision.admitted() ? wanted : 0;
      if (granted > 0 || decision.remaining() == 0) {
        return new Grant(
            granted, nowMillis + decision.resetAfterMillis(), nowMillis, decision.remaining());
      }
      wanted = Math.min(wanted, decision.remaining());
    }
  }

  /** What is left, after nothing was granted. */
  static Grant look(LeaseRequest request, long nowMillis, Decides counters) {
    Charge look = new Charge(request.key(), request.window(), 0, Overrun.COUNT);
    Decision decision = counters.decide(look);
    long end = nowMillis + decision.resetAfterMillis();
    return new Grant(0, end, nowMillis, decision.remaining());
  }

  static void giveBack(
      LeaseRequest lease, long windowEndMillis, long units, long nowMillis, Decides counters) {
    Charge look = new Charge(lease.key(), lease.window(), 0, Overrun.COUNT);
    if (nowMillis + counters.decide(look).resetAfterMillis() == windowEndMillis) {
      counters.decide(new Charge(lease.key(), lease.window(), -units, Overrun.REFUSE));
    }
  }
}
