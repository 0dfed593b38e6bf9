package io.throttlekit.tier;

import io.throttlekit.once.Answered;
import io.throttlekit.store.Grant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.StoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** The lease source of a process without a coordinator: every lease fails. */
enum NoFederation implements LeaseSource {
  SOURCE;

  @Override
  public CompletionStage<Answered<Grant>> lease(
      LeaseRequest request, Consumer<Answered<Grant>> late) {
    return CompletableFuture.failedFuture(
        new StoreException("there is no coordinator to lease from", null));
  }

  @Override
  public CompletionStage<?> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    return CompletableFuture.completedFuture(null);
  }
}
