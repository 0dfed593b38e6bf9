package io.throttlekit.service.telemetry;

import io.opentelemetry.api.trace.Tracer;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.store.Grant;
import java.util.concurrent.CompletionStage;

/** A coordinator whose leases appear in the traces of the requests that caused them. */
public record TracedCoordinator(GlobalCoordinator far, String address, Tracer tracer)
    implements GlobalCoordinator {

  @Override
  public CompletionStage<Grant> lease(BudgetLease lease) {
    return ClientSpans.around(
        tracer,
        "coordinator.lease",
        (span, grant) -> {
          span.setAttribute("throttlekit.coordinator", address);
          span.setAttribute("throttlekit.region", lease.region());
          span.setAttribute("throttlekit.counter", lease.budget().key().toString());
          span.setAttribute("throttlekit.limit", lease.budget().window().limit());
          span.setAttribute("throttlekit.wanted", lease.units());
          span.setAttribute("throttlekit.granted", grant.units());
          span.setAttribute("throttlekit.left", grant.left());
          span.setAttribute("throttlekit.window_end_ms", grant.windowEndMillis());
        },
        () -> far.lease(lease));
  }

  @Override
  public CompletionStage<Boolean> reconcile(BudgetReturn units) {
    return far.reconcile(units);
  }

  @Override
  public CompletionStage<Long> health() {
    return far.health();
  }

  @Override
  public void close() {
    far.close();
  }
}
