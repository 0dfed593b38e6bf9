package io.throttlekit.tier;

import java.util.concurrent.CompletionStage;

/**
 * Where a process leases units. Thread-safe; nothing blocks, and a stage that fails does so with a
 * {@link io.throttlekit.store.StoreException}: what was asked may have been counted all the same.
 */
public interface LeaseSource {

  /** Gives as many units as there are, which may be none. */
  CompletionStage<LeasedUnits> lease(LeaseAsk ask);

  /**
   * Takes units back that were not spent. Once their window has ended they are worth nothing.
   *
   * @param lease what they were asked for with
   * @param windowEndMillis of the units
   * @param units from 1
   */
  CompletionStage<?> giveBack(LeaseAsk lease, long windowEndMillis, long units);
}
