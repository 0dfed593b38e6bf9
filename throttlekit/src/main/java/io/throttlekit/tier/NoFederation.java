package io.throttlekit.tier;

import io.throttlekit.once.Answered;
import io.throttlekit.store.StoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** Of a process that shares nothing with other regions. */
enum NoFederation implements LeaseSource {
  SOURCE;

  @Override
  public CompletionStage<Answered<LeasedUnits>> lease(
      LeaseAsk ask, Consumer<Answered<LeasedUnits>> late) {
    return CompletableFuture.failedFuture(
        new StoreException("there is no coordinator to lease from", null));
  }

  @Override
  public CompletionStage<?> giveBack(LeaseAsk lease, long windowEndMillis, long units) {
    return CompletableFuture.completedFuture(null);
  }
}
