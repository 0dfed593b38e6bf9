package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.store.CallId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** An escrow with held answers that records its calls. For one thread. */
final class HeldEscrow implements RegionalEscrow {
  final HeldCalls calls = new HeldCalls("escrow");
  final HeldCalls refillCalls = new HeldCalls("escrow");
  final List<Long> leases = new ArrayList<>();
  final List<EscrowRefill> refills = new ArrayList<>();
  final InMemoryEscrow escrow;

  HeldEscrow(TimeSource time) {
    this.escrow = new InMemoryEscrow(time);
  }

  @Override
  public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
    leases.add(units);
    return calls.call(() -> escrow.lease(key, units, id));
  }

  @Override
  public CompletionStage<Boolean> refill(EscrowRefill refill) {
    refills.add(refill);
    return refillCalls.call(() -> escrow.refill(refill));
  }

  @Override
  public CompletionStage<Long> release(CounterKey key, long windowEndMillis, @Nullable CallId id) {
    return calls.call(() -> escrow.release(key, windowEndMillis, id));
  }

  @Override
  public CompletionStage<Long> health() {
    return calls.call(escrow::health);
  }

  @Override
  public void close() {}
}
