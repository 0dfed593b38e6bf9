package io.throttlekit.service.telemetry.traces;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.throttlekit.CounterKey;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * A store whose decisions and leases have spans in the traces of the requests that caused them.
 *
 * @param store the store
 * @param address without passwords
 * @param values how spans name counters
 */
public record TracedStore(
    CounterStore store, String address, TracedValues values, ClientSpans spans)
    implements CounterStore {
  /** Bounds an attribute: a request may charge a thousand counters. */
  private static final int MAX_COUNTERS = 16;

  private static final AttributeKey<List<String>> COUNTERS =
      AttributeKey.stringArrayKey("throttlekit.counters");

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    return spans.inSpan(
        "store.acquire",
        span -> recordCall(span, claims),
        (span, outcome) -> span.setAttribute("throttlekit.admitted", outcome.admitted()),
        () -> store.acquire(claims, waitNanos));
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    return spans.inSpan(
        "store.lease",
        span -> {
          span.setAttribute("throttlekit.store", address);
          span.setAttribute("throttlekit.counter", values.of(request.callKey()));
          span.setAttribute("throttlekit.limit", request.window().limit());
          span.setAttribute("throttlekit.requested_units", request.units());
        },
        (span, grant) ->
            ClientSpans.recordGrant(span, grant.units(), grant.left(), grant.windowEndMillis()),
        () -> store.lease(request));
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    return store.returnUnits(lease, windowEndMillis, units);
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    return store.reset(key, algorithm);
  }

  @Override
  public CompletionStage<Void> resetTenant(CounterKey key, FairTenant tenant) {
    return store.resetTenant(key, tenant);
  }

  @Override
  public void close() {
    store.close();
  }

  private void recordCall(Span span, List<Claim> claims) {
    span.setAttribute("throttlekit.store", address);
    span.setAttribute(
        COUNTERS,
        claims.stream()
            .flatMap(claim -> claim.charges().stream())
            .limit(MAX_COUNTERS)
            .map(charge -> values.of(charge.chargedKey()))
            .toList());
  }
}
