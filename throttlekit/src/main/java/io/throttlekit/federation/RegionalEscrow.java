package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.store.CallId;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Leased units that the processes of a region share. It is nearby and has a clock of its own.
 *
 * <p>A refill states, by this clock, the time span in which its units can be spent; outside of it
 * none are granted.
 *
 * <p>Thread-safe and non-blocking. A stage fails with a {@link
 * io.throttlekit.store.StoreException}; the request may have taken effect all the same. A call with
 * an id, and a refill, has no deadline: it completes when the answer arrives, or fails when the
 * connection is lost.
 */
public interface RegionalEscrow extends AutoCloseable {

  /**
   * Takes up to {@code units} units out, possibly none.
   *
   * @param units from 1
   * @param id makes a repeated lease take effect once; absent if it is never repeated
   */
  CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id);

  /** Takes units out, by a call that is never repeated. */
  default CompletionStage<EscrowGrant> lease(CounterKey key, long units) {
    return lease(key, units, null);
  }

  /** Puts units in, each refill once; completes with whether they can be spent. */
  CompletionStage<Boolean> refill(EscrowRefill refill);

  /**
   * Takes all units of a window out; 0 for any later caller.
   *
   * @param windowEndMillis by the coordinator's clock
   * @param id makes a repeated release take effect once; absent if it is never repeated
   */
  CompletionStage<Long> release(CounterKey key, long windowEndMillis, @Nullable CallId id);

  /** Takes all units of a window out, by a call that is never repeated. */
  default CompletionStage<Long> release(CounterKey key, long windowEndMillis) {
    return release(key, windowEndMillis, null);
  }

  /** Completes with the escrow's clock, in ms since the epoch, when it answers. */
  CompletionStage<Long> health();

  /** Rejects new calls and closes connections; calls in flight may fail. */
  @Override
  void close();
}
