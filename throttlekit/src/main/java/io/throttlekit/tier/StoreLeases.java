package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.once.Answered;
import io.throttlekit.once.Clocks;
import io.throttlekit.once.InTurn;
import io.throttlekit.once.OnceCalls;
import io.throttlekit.store.CallId;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Leases from a counter store. An answer is valid until its window ends, and a call without an
 * answer is repeated under the same id. Thread-safe.
 */
final class StoreLeases implements LeaseSource {
  /** The first retry of a lost call; doubled each time. */
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /**
   * The wait for an answer before the call fails for its caller; a later answer is still credited.
   */
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final CounterStore store;
  private final OnceCalls<CounterKey, LeaseGrant> leases;
  private final OnceCalls<CounterKey, Boolean> returns;
  private final InTurn<CounterKey> returnsInTurn = new InTurn<>();

  StoreLeases(CounterStore store, Clocks clocks) {
    this.store = store;
    long sender = CallId.newSender();
    this.leases =
        new OnceCalls<>(
            new OnceCalls.Settings(sender, RETRY_NANOS, WAIT_NANOS, false),
            clocks,
            LeaseGrant::windowEndMillis);
    // A sender of its own, so that ids of leases and returns differ. Returns have no window.
    this.returns =
        new OnceCalls<>(
            new OnceCalls.Settings(sender + 1, RETRY_NANOS, WAIT_NANOS, true), clocks, _ -> 0);
  }

  @Override
  public CompletionStage<Answered<LeaseGrant>> lease(
      LeaseRequest request, Consumer<Answered<LeaseGrant>> late) {
    return leases.call(
        request.callKey(),
        MonotonicSpan.nanos(request.window().windowMillis()),
        id -> store.lease(request.with(id)),
        late);
  }

  @Override
  public CompletionStage<?> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    CompletableFuture<Boolean> sent = new CompletableFuture<>();
    returnsInTurn.run(
        lease.callKey(),
        ended -> {
          var _ =
              returns
                  .call(
                      lease.callKey(),
                      MonotonicSpan.nanos(lease.window().windowMillis()),
                      id ->
                          store
                              .returnUnits(lease.with(id), windowEndMillis, units)
                              .thenApply(_ -> true),
                      (_, _) -> ended.complete(true))
                  .whenComplete((_, failure) -> {
                    if (failure == null) {
                      ended.complete(true);
                      sent.complete(true);
                    } else {
                      sent.completeExceptionally(failure);
                    }
                  });
        });
    return sent;
  }
}
