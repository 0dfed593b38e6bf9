package io.throttlekit.tier;

import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.store.LeaseGrant;
import java.util.concurrent.CompletionStage;

/** A coordinator whose calls are delayed, except for probes, which are answered at once. */
record DelayedCoordinator(
    GlobalCoordinator coordinator, InFlightCalls journeys, FederationState known)
    implements GlobalCoordinator {

  @Override
  public CompletionStage<LeaseGrant> lease(BudgetLease lease) {
    long window = lease.windowEndMillis();
    String since = window == BudgetLease.CURRENT ? known.takeSince() : "from " + known.nowNanos();
    return journeys.travel(
        "lease %d until %d %s".formatted(lease.units(), window, since),
        () -> coordinator.lease(lease).toCompletableFuture().join());
  }

  @Override
  public CompletionStage<Boolean> reconcile(BudgetReturn units) {
    return journeys.tell(
        "return %d of %d".formatted(units.units(), units.windowEndMillis()),
        () -> coordinator.reconcile(units).toCompletableFuture().join());
  }

  @Override
  public CompletionStage<Long> health() {
    known.probed();
    return coordinator.health();
  }

  @Override
  public void close() {}
}
