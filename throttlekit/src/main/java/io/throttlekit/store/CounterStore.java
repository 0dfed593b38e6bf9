package io.throttlekit.store;

import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.rate.RateAlgorithm;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A store of counters. Windows follow the store's own clock, so all processes that share a store
 * share its windows.
 *
 * <p>Thread-safe and non-blocking. A stage completes on a thread of the store's choosing, or before
 * the method returns. It fails with a {@link StoreException}; the request may have been counted all
 * the same, and then stays counted until its window ends.
 */
public interface CounterStore extends AutoCloseable {

  /**
   * Decides and counts the claims of one request together: all of it, or only what always counts.
   *
   * @param waitNanos the caller's remaining deadline, in ns from now. A store outside the process
   *     fails the stage then, and at the latest after its own deadline. With 0 or less, an answer
   *     is taken only if it arrives within the store's timer resolution
   */
  CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos);

  /** Like {@link #acquire(List, long)} with the store's own deadline. */
  default CompletionStage<Outcome> acquire(List<Claim> claims) {
    return acquire(claims, Long.MAX_VALUE);
  }

  /**
   * Grants and counts what is left in the window, up to the request, possibly nothing. Granted
   * units count as spent. A lease with an id takes effect once and has no deadline: its stage
   * completes when the answer arrives, however late, or fails when the connection is lost.
   */
  CompletionStage<LeaseGrant> lease(LeaseRequest request);

  /**
   * Returns units of a grant that were not spent. Once the window of the grant has ended this has
   * no effect. A return with an id takes effect once, as for {@link #lease}.
   *
   * @param windowEndMillis of the grant
   * @param units of the grant that were not spent, from 1
   */
  CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units);

  /** Resets the counter to unused. */
  CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm);

  /**
   * Forgets one tenant of a counter that tenants share; what it has used in this window returns to
   * the others.
   */
  default CompletionStage<Void> resetTenant(CounterKey key, FairTenant tenant) {
    return CompletableFuture.failedFuture(
        new UnsupportedOperationException("this store has no counters that tenants share"));
  }

  /** Reads a counter without counting; admitted unless the counter is beyond its limit. */
  default CompletionStage<Outcome> peek(CounterKey key, RateAlgorithm<?> algorithm) {
    Charge look = new Charge(key, algorithm, 0, Overrun.COUNT);
    return acquire(List.of(new Claim(Claim.Role.SHADOW, List.of(look))));
  }

  /** Rejects new calls and closes connections; calls in flight may fail. */
  @Override
  void close();
}
