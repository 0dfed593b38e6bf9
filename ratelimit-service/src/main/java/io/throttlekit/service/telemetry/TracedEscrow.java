package io.throttlekit.service.telemetry;

import io.opentelemetry.api.trace.Tracer;
import io.throttlekit.CounterKey;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.store.CallId;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** An escrow whose leases and refills appear in the traces of the requests that caused them. */
public record TracedEscrow(RegionalEscrow far, String region, Tracer tracer)
    implements RegionalEscrow {

  @Override
  public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
    return ClientSpans.around(
        tracer,
        "escrow.lease",
        (span, grant) -> {
          span.setAttribute("throttlekit.region", region);
          span.setAttribute("throttlekit.counter", key.toString());
          span.setAttribute("throttlekit.wanted", units);
          span.setAttribute("throttlekit.granted", grant.units());
          span.setAttribute("throttlekit.left", grant.left());
          span.setAttribute("throttlekit.window_end_ms", grant.windowEndMillis());
        },
        () -> far.lease(key, units, id));
  }

  @Override
  public CompletionStage<Boolean> refill(EscrowRefill refill) {
    return ClientSpans.around(
        tracer,
        "escrow.refill",
        (span, taken) -> {
          span.setAttribute("throttlekit.region", region);
          span.setAttribute("throttlekit.units", refill.units());
          span.setAttribute("throttlekit.taken", taken);
        },
        () -> far.refill(refill));
  }

  @Override
  public CompletionStage<Long> release(CounterKey key, long windowEndMillis, @Nullable CallId id) {
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
}
