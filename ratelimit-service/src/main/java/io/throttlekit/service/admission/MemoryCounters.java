package io.throttlekit.service.admission;

import io.throttlekit.Charge;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.Outcome;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.Collections;
import java.util.List;

/**
 * Counters of this process alone, which always know the answer.
 *
 * @param store holds them
 */
public record MemoryCounters(InMemoryStore store) implements Counters {

  @Override
  public Decision decide(Rule rule, Charge charge) {
    return store.decide(charge);
  }

  @Override
  public DecidedBy decidedBy() {
    return DecidedBy.MEMORY;
  }

  @Override
  public TieredOutcome decide(List<RuleClaim> claims, Tiers.Later later) {
    Outcome outcome = store.decide(claims.stream().map(RuleClaim::claim).toList());
    List<Decision> decisions = outcome.decisions();
    List<DecidedBy> decidedBy = Collections.nCopies(decisions.size(), DecidedBy.MEMORY);
    return new TieredOutcome(outcome.admitted(), decisions, decidedBy);
  }
}
