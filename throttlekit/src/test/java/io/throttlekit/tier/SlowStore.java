package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.tier.InFlightCalls.InFlightCall;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** One node's link to a store: calls and answers arrive when the test decides. */
final class SlowStore implements CounterStore {
  private static final String ACQUIRE = "acquire";

  private final CounterStore store;
  private final InFlightCalls journeys = new InFlightCalls();

  /** Requests that the store itself has admitted since the last reset. */
  private int admittedThere;

  SlowStore(CounterStore store) {
    this.store = store;
  }

  List<InFlightCall<?>> calls() {
    return journeys.calls();
  }

  /** Returns whether a call requests a decision, not a lease. */
  static boolean decides(InFlightCall<?> call) {
    return call.what().equals(ACQUIRE);
  }

  /** Delivers a call to the store, or its answer to the node. */
  void move(int index) {
    journeys.move(index);
  }

  /** Loses a call or its answer. */
  void lose(int index) {
    journeys.lose(index);
  }

  int takeAdmittedThere() {
    int admitted = admittedThere;
    admittedThere = 0;
    return admitted;
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    return journeys.travel(
        ACQUIRE,
        () -> {
          Outcome outcome = store.acquire(claims).toCompletableFuture().join();
          admittedThere += outcome.admitted() ? 1 : 0;
          return outcome;
        });
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    return journeys.travel(
        "lease " + request.units() + " of " + request.key(),
        () -> store.lease(request).toCompletableFuture().join());
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    return journeys
        .tell(
            "return " + units + " of " + lease.key() + " until " + windowEndMillis,
            () -> {
              var _ = store.returnUnits(lease, windowEndMillis, units).toCompletableFuture().join();
              return true;
            })
        .thenApply(_ -> null);
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
