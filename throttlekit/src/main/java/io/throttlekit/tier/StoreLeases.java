package io.throttlekit.tier;

import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseRequest;
import java.util.concurrent.CompletionStage;

/** Leases from a store of counters. */
record StoreLeases(CounterStore store) implements LeaseSource {

  @Override
  public CompletionStage<LeasedUnits> lease(LeaseAsk ask) {
    return store.lease(request(ask)).thenApply(LeasedUnits::of);
  }

  @Override
  public CompletionStage<?> giveBack(LeaseAsk lease, long windowEndMillis, long units) {
    return store.giveBack(request(lease), windowEndMillis, units);
  }

  private static LeaseRequest request(LeaseAsk ask) {
    return new LeaseRequest(ask.key(), ask.window(), ask.units(), ask.onDataLoss());
  }
}
