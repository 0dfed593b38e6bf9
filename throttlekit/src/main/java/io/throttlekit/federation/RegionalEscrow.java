package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import java.util.concurrent.CompletionStage;

/**
 * What a region has leased and its processes share. It is near, and its clock is its own.
 *
 * <p>Whoever fills it says, by this clock, from when to when the units can be spent; outside of
 * that nobody is given any.
 *
 * <p>Thread-safe. No method blocks. Every stage completes, in bounded time. One that fails does so
 * with a {@link io.throttlekit.store.StoreException}; what was asked may have happened all the
 * same.
 */
public interface RegionalEscrow extends AutoCloseable {

  /**
   * Takes units out, as many as are there, which may be none.
   *
   * @param units from 1
   */
  CompletionStage<EscrowGrant> lease(CounterKey key, long units);

  /** Puts units in, each refill once; whether they can be spent. */
  CompletionStage<Boolean> refill(EscrowRefill refill);

  /**
   * Takes everything of a window out; 0 for whoever comes second.
   *
   * @param windowEndMillis by the coordinator's clock
   */
  CompletionStage<Long> release(CounterKey key, long windowEndMillis);

  /** Completes with the escrow's clock, in ms since the epoch, if it answers. */
  CompletionStage<Long> health();

  /** Takes no more calls, and lets go of connections; calls in progress may fail. */
  @Override
  void close();
}
