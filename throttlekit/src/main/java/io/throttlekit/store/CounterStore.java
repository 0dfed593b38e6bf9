package io.throttlekit.store;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.rate.RateAlgorithm;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Where counters live. Windows follow the store's own clock, so every process that shares a store
 * shares its windows.
 *
 * <p>Thread-safe. No method blocks, and each stage completes on a thread of the store's choosing,
 * or before the method returns. A stage that fails does so with a {@link StoreException}; what was
 * asked may have been counted all the same, and stays counted until its window ends.
 */
public interface CounterStore extends AutoCloseable {

  /**
   * Decides and counts the claims of one request as one: all of it, or only what always counts.
   *
   * @param waitNanos how long the caller waits for the answer, in ns from now; a store outside the
   *     process fails the stage then, and at the latest after its own deadline. 0 or less: it does
   *     not wait, but takes an answer that is there within the store's resolution
   */
  CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos);

  /** The same for a caller that waits as long as the store's own deadline. */
  default CompletionStage<Outcome> acquire(List<Claim> claims) {
    return acquire(claims, Long.MAX_VALUE);
  }

  /**
   * Counts as much of a lease as is left in the window, which may be nothing. What is granted is
   * counted as if it were spent. One with an id takes effect once, and fails by no deadline: its
   * stage completes when the answer comes, however late, or fails when the connection is lost.
   */
  CompletionStage<Grant> lease(LeaseRequest request);

  /**
   * Gives units of a grant back that were not spent. Once the window of the grant has ended they
   * are worth nothing, and nothing happens. One with an id is taken back once, as {@link #lease}.
   *
   * @param windowEndMillis of the grant
   * @param units of the grant that were not spent, from 1
   */
  CompletionStage<Void> giveBack(LeaseRequest lease, long windowEndMillis, long units);

  /** Makes the counter unused. */
  CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm);

  /** What is left: counts nothing, and is admitted unless the counter is beyond its limit. */
  default CompletionStage<Outcome> peek(CounterKey key, RateAlgorithm<?> algorithm) {
    Charge look = new Charge(key, algorithm, 0, Overrun.COUNT);
    return acquire(List.of(new Claim(Claim.Role.SHADOW, List.of(look))));
  }

  /** Takes no more calls, and lets go of connections; calls in progress may fail. */
  @Override
  void close();
}
