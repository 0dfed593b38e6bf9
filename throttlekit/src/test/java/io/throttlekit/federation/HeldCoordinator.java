package io.throttlekit.federation;

import io.throttlekit.TimeSource;
import io.throttlekit.store.LeaseGrant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** A coordinator with held answers that records its calls. For one thread. */
final class HeldCoordinator implements GlobalCoordinator {
  final HeldCalls calls = new HeldCalls("coordinator");
  final List<BudgetLease> leases = new ArrayList<>();
  final List<BudgetReturn> returns = new ArrayList<>();
  private final InMemoryCoordinator coordinator;
  int probes;

  HeldCoordinator(TimeSource time) {
    this.coordinator = new InMemoryCoordinator(time);
  }

  @Override
  public CompletionStage<LeaseGrant> lease(BudgetLease lease) {
    leases.add(lease);
    return calls.call(() -> coordinator.lease(lease));
  }

  @Override
  public CompletionStage<Boolean> reconcile(BudgetReturn units) {
    returns.add(units);
    return calls.call(() -> coordinator.reconcile(units));
  }

  @Override
  public CompletionStage<Long> health() {
    probes++;
    return calls.call(coordinator::health);
  }

  @Override
  public void close() {}
}
