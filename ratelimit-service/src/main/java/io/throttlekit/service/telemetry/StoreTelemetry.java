package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.throttlekit.CounterKey;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.service.store.StoreListeners;
import io.throttlekit.service.telemetry.statsd.RedisPoolStatistics;
import io.throttlekit.service.telemetry.statsd.RedisPools;
import io.throttlekit.service.telemetry.traces.ClientSpans;
import io.throttlekit.service.telemetry.traces.TracedStore;
import io.throttlekit.service.telemetry.traces.TracedValues;
import io.throttlekit.store.CallId;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.tier.TierListener;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Metrics of a shared store, and spans of the calls made for traced requests.
 *
 * @param values how spans name counters and tenants
 * @param pools counts the connections to the store of this region, if it is on Redis
 */
public record StoreTelemetry(Meter meter, Tracer tracer, TracedValues values, RedisPools pools)
    implements StoreListeners {

  @Override
  public BackendListener backend(String role) {
    RedisPoolStatistics pool =
        switch (role) {
          case "store" -> pools.all();
          case "per_second_store" -> pools.perSecond();
          default -> null;
        };
    return new StoreMetrics(meter, role, pool);
  }

  @Override
  public TierListener tiers() {
    return new TierMetrics(meter);
  }

  @Override
  public FederationListener federation() {
    return new FederationMetrics(meter);
  }

  @Override
  public CounterStore traced(CounterStore store, String address) {
    boolean isOff = tracer.equals(TracerProvider.noop().get("")); // which has one tracer only
    return isOff ? store : new TracedStore(store, address, values, spans());
  }

  @Override
  public GlobalCoordinator traced(GlobalCoordinator far, String address) {
    return new GlobalCoordinator() {
      @Override
      public CompletionStage<LeaseGrant> lease(BudgetLease lease) {
        return spans()
            .inSpan(
                "coordinator.lease",
                span -> {
                  span.setAttribute("throttlekit.coordinator", address);
                  recordLease(span, lease.region(), lease.budget().key(), lease.units());
                  span.setAttribute("throttlekit.limit", lease.budget().window().limit());
                  FairTenant tenant = lease.tenant();
                  if (tenant != null) {
                    span.setAttribute("throttlekit.tenant", values.of(tenant.key()));
                  }
                },
                (span, grant) ->
                    ClientSpans.recordGrant(
                        span, grant.units(), grant.left(), grant.windowEndMillis()),
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
    };
  }

  @Override
  public RegionalEscrow traced(RegionalEscrow far, String region) {
    return new RegionalEscrow() {
      @Override
      public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
        return spans()
            .inSpan(
                "escrow.lease",
                span -> recordLease(span, region, key, units),
                (span, grant) ->
                    ClientSpans.recordGrant(
                        span, grant.units(), grant.left(), grant.windowEndMillis()),
                () -> far.lease(key, units, id));
      }

      @Override
      public CompletionStage<Boolean> refill(EscrowRefill refill) {
        return spans()
            .inSpan(
                "escrow.refill",
                span -> {
                  span.setAttribute("throttlekit.region", region);
                  span.setAttribute("throttlekit.units", refill.units());
                },
                (span, accepted) -> span.setAttribute("throttlekit.accepted", accepted),
                () -> far.refill(refill));
      }

      @Override
      public CompletionStage<Long> release(
          CounterKey key, long windowEndMillis, @Nullable CallId id) {
        return far.release(key, windowEndMillis, id);
      }

      @Override
      public CompletionStage<Long> health() {
        return far.health();
      }

      @Override
      public void close() {
        far.close();
      }
    };
  }

  private ClientSpans spans() {
    return new ClientSpans(tracer);
  }

  private void recordLease(Span span, String region, CounterKey key, long units) {
    span.setAttribute("throttlekit.region", region);
    span.setAttribute("throttlekit.counter", values.of(key));
    span.setAttribute("throttlekit.requested_units", units);
  }
}
