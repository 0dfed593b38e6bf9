package io.throttlekit.tier;

import io.throttlekit.once.Answered;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * A source of leased units. Thread-safe and non-blocking. A stage fails with a {@link
 * io.throttlekit.store.StoreException}; the request may have been counted all the same.
 */
public interface LeaseSource {

  /**
   * Leases as many units as are left, possibly none.
   *
   * @param late receives units that arrive after the stage has failed, or in addition to it; they
   *     are valid until their window ends
   */
  CompletionStage<Answered<LeaseGrant>> lease(
      LeaseRequest request, Consumer<Answered<LeaseGrant>> late);

  /**
   * Returns unspent units. They are worth nothing once their window has ended.
   *
   * @param lease the request that leased them
   * @param windowEndMillis of the units
   * @param units from 1
   */
  CompletionStage<?> returnUnits(LeaseRequest lease, long windowEndMillis, long units);
}
