package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.store.CallId;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** An escrow whose calls are delayed. */
record DelayedEscrow(RegionalEscrow escrow, InFlightCalls journeys, FederationState known)
    implements RegionalEscrow {

  @Override
  public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
    String from = "from " + known.nowNanos();
    return journeys
        .travel(
            "take " + units + " " + from,
            () -> escrow.lease(key, units, id).toCompletableFuture().join())
        .whenComplete((grant, _) ->
            known.since(
                grant == null
                    ? from + ", no escrow"
                    : "%s, escrow at %d by %d"
                        .formatted(from, grant.nowMillis(), known.nowNanos())));
  }

  @Override
  public CompletionStage<Boolean> refill(EscrowRefill refill) {
    return journeys.tell(
        "refill %d of %d from %d to %d"
            .formatted(
                refill.units(),
                refill.windowEndMillis(),
                refill.beginsMillis(),
                refill.endsMillis()),
        () -> escrow.refill(refill).toCompletableFuture().join());
  }

  @Override
  public CompletionStage<Long> release(CounterKey key, long windowEndMillis, @Nullable CallId id) {
    return journeys.travel(
        "release " + windowEndMillis,
        () -> escrow.release(key, windowEndMillis, id).toCompletableFuture().join());
  }

  @Override
  public CompletionStage<Long> health() {
    return escrow.health();
  }

  @Override
  public void close() {}
}
