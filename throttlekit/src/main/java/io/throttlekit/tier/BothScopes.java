package io.throttlekit.tier;

import io.throttlekit.once.Answered;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** Routes each lease request to the region's store or to the global source, by its tier. */
record BothScopes(LeaseSource region, LeaseSource global) implements LeaseSource {

  @Override
  public CompletionStage<Answered<LeasedUnits>> lease(
      LeaseAsk ask, Consumer<Answered<LeasedUnits>> late) {
    return of(ask).lease(ask, late);
  }

  @Override
  public CompletionStage<?> returnUnits(LeaseAsk lease, long windowEndMillis, long units) {
    return of(lease).returnUnits(lease, windowEndMillis, units);
  }

  private LeaseSource of(LeaseAsk ask) {
    return ask.tier() instanceof Tier.Global ? global : region;
  }
}
