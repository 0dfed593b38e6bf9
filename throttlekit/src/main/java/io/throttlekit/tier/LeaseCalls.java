package io.throttlekit.tier;

import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.StoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Calls of the sources of units, for whose answers a shutdown waits. Thread-safe. */
final class LeaseCalls {
  private final LeaseSource region;
  private final @Nullable LeaseSource allRegions;

  /** Calls without an answer; one more until {@link #close}. */
  private final AtomicLong inFlight = new AtomicLong(1);

  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

  /**
   * Creates an object without calls.
   *
   * @param region the source of units of the region's limits
   * @param allRegions the source of units of limits that all regions share; absent without a
   *     coordinator
   */
  LeaseCalls(LeaseSource region, @Nullable LeaseSource allRegions) {
    this.region = region;
    this.allRegions = allRegions;
  }

  /** Calls the source of a request; calls that follow from its answer begin before it ends. */
  <T> void call(
      LeaseRequest request,
      Function<LeaseSource, CompletionStage<T>> send,
      BiConsumer<@Nullable T, @Nullable Throwable> answered) {
    inFlight.incrementAndGet();
    LeaseSource source = request.terms() == null ? region : allRegions;
    CompletionStage<T> answer;
    try {
      if (source == null) {
        throw new StoreException("there is no coordinator to lease from", null);
      }
      answer = send.apply(source);
    } catch (RuntimeException refused) { // else the cell would wait for an answer forever
      answer = CompletableFuture.failedFuture(refused);
    }
    answer.whenComplete(answered).whenComplete((_, _) -> end());
  }

  /** Lets {@link #ended} complete. To be called once. */
  void close() {
    end();
  }

  /** Completes when this is closed and every call has been answered or has failed. */
  CompletionStage<?> ended() {
    return ended;
  }

  private void end() {
    if (inFlight.decrementAndGet() == 0) {
      ended.complete(true);
    }
  }
}
