package io.throttlekit.tier;

import java.util.concurrent.CompletionStage;

/** Leases from a region's store, or from what all regions share, as a tier says. */
record BothScopes(LeaseSource region, LeaseSource global) implements LeaseSource {

  @Override
  public CompletionStage<LeasedUnits> lease(LeaseAsk ask) {
    return of(ask).lease(ask);
  }

  @Override
  public CompletionStage<?> giveBack(LeaseAsk lease, long windowEndMillis, long units) {
    return of(lease).giveBack(lease, windowEndMillis, units);
  }

  private LeaseSource of(LeaseAsk ask) {
    return ask.tier() instanceof Tier.Global ? global : region;
  }
}
