package io.throttlekit.service.admission;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.lease.Tier;
import io.throttlekit.store.Charge;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.Outcome;
import io.throttlekit.tier.Counters;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.OutcomeCallback;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import java.util.Collections;
import java.util.List;

/**
 * Counters of this process alone, which can always decide.
 *
 * @param store holds the counters
 */
public record MemoryCounters(InMemoryStore store) implements Counters {

  @Override
  public Decision tryAcquire(Charge charge, Tier tier, DataLoss onDataLoss) {
    return store.decide(charge);
  }

  @Override
  public DecidedBy decidedBy(Tier tier) {
    return DecidedBy.MEMORY;
  }

  @Override
  public TieredOutcome acquireAfterMiss(TieredClaim claim, OutcomeCallback callback) {
    throw new IllegalStateException("memory decides every charge");
  }

  @Override
  public TieredOutcome acquire(List<TieredClaim> claims, OutcomeCallback callback) {
    Outcome outcome = store.decide(claims.stream().map(TieredClaim::claim).toList());
    List<Decision> decisions = outcome.decisions();
    List<DecidedBy> decidedBy = Collections.nCopies(decisions.size(), DecidedBy.MEMORY);
    return new TieredOutcome(outcome.admitted(), decisions, decidedBy);
  }
}
