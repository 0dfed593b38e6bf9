package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.store.CallId;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What a region has leased and its processes share. It is near, and its clock is its own.
 *
 * <p>Whoever fills it says, by this clock, from when to when the units can be spent; outside of
 * that nobody is given any.
 *
 * <p>Thread-safe. No method blocks. A stage that fails does so with a {@link
 * io.throttlekit.store.StoreException}; what was asked may have happened all the same. One with an
 * id, and a refill, fails by no deadline: it completes when the answer comes, or the connection is
 * lost.
 */
public interface RegionalEscrow extends AutoCloseable {

  /**
   * Takes units out, as many as are there, which may be none.
   *
   * @param units from 1
   * @param id under which the same lease takes effect once; absent for one that is not sent again
   */
  CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id);

  /** Takes units out, by a call that is not sent again. */
  default CompletionStage<EscrowGrant> lease(CounterKey key, long units) {
    return lease(key, units, null);
  }

  /** Puts units in, each refill once; whether they can be spent. */
  CompletionStage<Boolean> refill(EscrowRefill refill);

  /**
   * Takes everything of a window out; 0 for whoever comes second.
   *
   * @param windowEndMillis by the coordinator's clock
   * @param id under which the same release takes effect once; absent for one that is not sent again
   */
  CompletionStage<Long> release(CounterKey key, long windowEndMillis, @Nullable CallId id);

  /** Takes everything of a window out, by a call that is not sent again. */
  default CompletionStage<Long> release(CounterKey key, long windowEndMillis) {
    return release(key, windowEndMillis, null);
  }

  /** Completes with the escrow's clock, in ms since the epoch, if it answers. */
  CompletionStage<Long> health();

  /** Takes no more calls, and lets go of connections; calls in progress may fail. */
  @Override
  void close();
}
