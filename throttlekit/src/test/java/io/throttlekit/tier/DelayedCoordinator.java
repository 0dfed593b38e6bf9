package io.throttlekit.tier;

import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.tier.FederatedNodes.Defect;
import java.util.concurrent.CompletionStage;

/**
 * A coordinator whose calls are delayed, except for probes, which are answered at once.
 *
 * @param defect of the coordinator
 */
record DelayedCoordinator(
    GlobalCoordinator coordinator, InFlightCalls journeys, FederationState known, Defect defect)
    implements GlobalCoordinator {

  @Override
  public CompletionStage<LeaseGrant> lease(BudgetLease lease) {
    long window = lease.windowEndMillis();
    String since = window == BudgetLease.CURRENT ? known.takeSince() : "from " + known.nowNanos();
    return journeys.travel(
        "lease %d until %d %s".formatted(lease.units(), window, since),
        () -> changed(lease, coordinator.lease(lease).toCompletableFuture().join()));
  }

  private LeaseGrant changed(BudgetLease lease, LeaseGrant grant) {
    long more = defect == Defect.OUTLIVES_WINDOW ? lease.budget().window().windowMillis() : 0;
    return new LeaseGrant(
        defect == Defect.GRANTED_TWICE ? 2 * grant.units() : grant.units(),
        grant.windowEndMillis(),
        grant.lastsMillis() + more,
        grant.endsWithinMillis() + more,
        grant.left());
  }

  @Override
  public CompletionStage<Boolean> reconcile(BudgetReturn units) {
    return journeys.tell(
        "return %d of %d".formatted(units.units(), units.windowEndMillis()),
        () ->
            defect != Defect.RETURN_LOST
                && coordinator.reconcile(units).toCompletableFuture().join());
  }

  @Override
  public CompletionStage<Long> health() {
    known.probed();
    return coordinator.health();
  }

  @Override
  public void close() {}
}
