package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
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
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.tier.TierListener;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Metrics of a shared store, and spans of the calls made for traced requests.
 *
 * @param pool counts the connections to the store of this region, if it is on Redis
 */
public record StoreTelemetry(Meter meter, Tracer tracer, RedisPoolStatistics pool)
    implements StoreListeners {

  @Override
  public BackendListener backend(String role) {
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
  public GlobalCoordinator traced(GlobalCoordinator far, String address) {
    return new GlobalCoordinator() {
      @Override
      public CompletionStage<LeaseGrant> lease(BudgetLease lease) {
        return inSpan(
            "coordinator.lease",
            (span, grant) -> {
              span.setAttribute("throttlekit.coordinator", address);
              recordLease(span, lease.region(), lease.budget().key(), lease.units());
              span.setAttribute("throttlekit.limit", lease.budget().window().limit());
              FairTenant tenant = lease.tenant();
              if (tenant != null) {
                span.setAttribute("throttlekit.tenant", tenant.key().toString());
              }
              recordGrant(span, grant.units(), grant.left(), grant.windowEndMillis());
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
    };
  }

  @Override
  public RegionalEscrow traced(RegionalEscrow far, String region) {
    return new RegionalEscrow() {
      @Override
      public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
        return inSpan(
            "escrow.lease",
            (span, grant) -> {
              recordLease(span, region, key, units);
              recordGrant(span, grant.units(), grant.left(), grant.windowEndMillis());
            },
            () -> far.lease(key, units, id));
      }

      @Override
      public CompletionStage<Boolean> refill(EscrowRefill refill) {
        return inSpan(
            "escrow.refill",
            (span, accepted) -> {
              span.setAttribute("throttlekit.region", region);
              span.setAttribute("throttlekit.units", refill.units());
              span.setAttribute("throttlekit.accepted", accepted);
            },
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

  private static void recordLease(Span span, String region, CounterKey key, long units) {
    span.setAttribute("throttlekit.region", region);
    span.setAttribute("throttlekit.counter", key.toString());
    span.setAttribute("throttlekit.requested_units", units);
  }

  private static void recordGrant(Span span, long units, long left, long windowEndMillis) {
    span.setAttribute("throttlekit.granted_units", units);
    span.setAttribute("throttlekit.remaining_units", left);
    span.setAttribute("throttlekit.window_end_ms", windowEndMillis);
  }

  /**
   * Runs a call, in a child span if the current span is recording. Stages that depend on the answer
   * run in the current context, so that their calls become siblings.
   *
   * @param name of the span
   * @param record writes the answer to the span
   */
  private <T> CompletionStage<T> inSpan(
      String name, BiConsumer<Span, T> record, Supplier<CompletionStage<T>> call) {
    Context caller = Context.current();
    if (!Span.fromContext(caller).isRecording()) {
      return call.get();
    }
    Span span = tracer.spanBuilder(name).setParent(caller).setSpanKind(SpanKind.CLIENT).startSpan();
    CompletableFuture<T> answer = new CompletableFuture<>();
    call.get()
        .whenComplete((value, failure) -> {
          if (failure == null) {
            record.accept(span, value);
          } else {
            span.setStatus(StatusCode.ERROR, String.valueOf(failure.getMessage()));
          }
          span.end();
          try (Scope _ = caller.makeCurrent()) {
            if (failure == null) {
              answer.complete(value);
            } else {
              answer.completeExceptionally(failure);
            }
          }
        });
    return answer;
  }
}
