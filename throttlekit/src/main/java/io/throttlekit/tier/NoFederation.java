package io.throttlekit.tier;

import io.throttlekit.store.StoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Of a process that shares nothing with other regions. */
enum NoFederation implements LeaseSource {
  SOURCE;

  @Override
  public CompletionStage<LeasedUnits> lease(LeaseAsk ask) {
    return CompletableFuture.failedFuture(
        new StoreException("there is no coordinator to lease from", null));
  }

  @Override
  public CompletionStage<?> giveBack(LeaseAsk lease, long windowEndMillis, long units) {
    return CompletableFuture.completedFuture(null);
  }
}
