package io.throttlekit.simulator.fairness;

import io.throttlekit.DataLoss;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Terms;
import java.util.List;

/**
 * The processes that decide requests, and how they receive requests and lease units.
 *
 * @param regions 1 for processes that lease from one store; more for regions that lease from one
 *     coordinator
 * @param processes of each region
 * @param spread of the requests of a tenant over regions, or over processes if there is one region
 * @param size of a lease
 * @param returnIdleAfterMillis time after which a process returns what it does not use; 0 for never
 */
record FleetShape(
    int regions, int processes, Spread spread, LeaseSize size, long returnIdleAfterMillis) {
  static final LeaseSize LEASE = new LeaseSize.Fixed(10);

  /** The default; in short windows, units of tenants return earlier. */
  static final long RETURN_MILLIS = 30_000;

  /** Returns three processes over one store. */
  static FleetShape ofProcesses() {
    return new FleetShape(1, 3, Spread.EVEN, LEASE, RETURN_MILLIS);
  }

  /** Returns three regions of two processes. */
  static FleetShape ofRegions() {
    return new FleetShape(3, 2, Spread.EVEN, LEASE, RETURN_MILLIS);
  }

  /** Returns this fleet with another spread of requests. */
  FleetShape with(Spread other) {
    return new FleetShape(regions, processes, other, size, returnIdleAfterMillis);
  }

  /** Returns this fleet with another way to lease. */
  FleetShape with(LeaseSize other, long returnAfterMillis) {
    return new FleetShape(regions, processes, spread, other, returnAfterMillis);
  }

  /** Returns the tier by which this fleet decides charges on a limit. */
  Tier tier(FixedWindow window) {
    return regions == 1
        ? new Tier.Leased(size, true, 0, returnIdleAfterMillis)
        : new Tier.Global(
            size,
            0,
            returnIdleAfterMillis,
            new Terms("simulated", List.of(window)),
            DataLoss.REFILL,
            false);
  }

  /** Returns the sharing of a limit by this fleet. */
  Sharing sharing(String name, Division division) {
    return new Sharing(name, scenario -> FairFleet.start(scenario, this, division));
  }
}
