package io.throttlekit.tier;

import io.throttlekit.once.Answered;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * Where a process leases units. Thread-safe; nothing blocks, and a stage that fails does so with a
 * {@link io.throttlekit.store.StoreException}: what was asked may have been counted all the same.
 */
public interface LeaseSource {

  /**
   * Gives as many units as there are, which may be none.
   *
   * @param late takes units that come after the stage has failed, or beside it: they count as long
   *     as their window lasts
   */
  CompletionStage<Answered<LeasedUnits>> lease(LeaseAsk ask, Consumer<Answered<LeasedUnits>> late);

  /**
   * Takes units back that were not spent. Once their window has ended they are worth nothing.
   *
   * @param lease what they were asked for with
   * @param windowEndMillis of the units
   * @param units from 1
   */
  CompletionStage<?> giveBack(LeaseAsk lease, long windowEndMillis, long units);
}
