package io.throttlekit.tier;

import io.throttlekit.once.Answered;
import io.throttlekit.store.Grant;
import io.throttlekit.store.LeaseRequest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls the sources of leases, and counts the calls in flight, so that a shutdown can wait for
 * them. Thread-safe.
 */
final class InFlightLeases {
  private final LeaseSource region;
  private final LeaseSource allRegions;
  private final AtomicLong calls = new AtomicLong(1); // 1 until close()
  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

  /**
   * Creates an object without calls.
   *
   * @param region the source of units of the region's limits
   * @param allRegions the source of units of limits that all regions share
   */
  InFlightLeases(LeaseSource region, LeaseSource allRegions) {
    this.region = region;
    this.allRegions = allRegions;
  }

  /**
   * Requests a lease.
   *
   * @param late receives units that arrive after or in addition to the answer
   * @param answered receives the answer or the failure, once
   */
  void lease(
      LeaseRequest request,
      Consumer<Answered<Grant>> late,
      BiConsumer<@Nullable Answered<Grant>, @Nullable Throwable> answered) {
    calls.incrementAndGet();
    CompletionStage<Answered<Grant>> answer;
    try {
      answer = source(request).lease(request, late);
    } catch (RuntimeException refused) { // else the cell would wait for an answer forever
      answer = CompletableFuture.failedFuture(refused);
    }
    answer.whenComplete(answered).whenComplete((_, _) -> end());
  }

  /** Returns units to their source. */
  void returnUnits(LeaseRequest leased) {
    calls.incrementAndGet();
    CompletionStage<?> answer;
    try {
      answer = source(leased).returnUnits(leased, leased.windowEndMillis(), leased.units());
    } catch (RuntimeException refused) {
      answer = CompletableFuture.failedFuture(refused);
    }
    answer.whenComplete((_, _) -> end());
  }

  /** Stops new calls, except those that follow from answers. Called once. */
  void close() {
    end();
  }

  /** Completes when this is closed and all calls are answered. */
  CompletionStage<?> ended() {
    return ended;
  }

  /** Counts a call as answered. Calls that follow from its answer have begun before. */
  private void end() {
    if (calls.decrementAndGet() == 0) {
      ended.complete(true);
    }
  }

  private LeaseSource source(LeaseRequest request) {
    return request.terms() == null ? region : allRegions;
  }
}
