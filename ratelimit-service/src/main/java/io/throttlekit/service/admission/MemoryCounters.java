package io.throttlekit.service.admission;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.Outcome;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Counters of this process alone, which can always decide.
 *
 * @param store holds the counters
 */
public record MemoryCounters(InMemoryStore store) implements Counters {

  @Override
  public boolean mayKnow(Rule rule) {
    return true;
  }

  @Override
  public Decision decide(Rule rule, Charge charge) {
    return store.decide(charge);
  }

  @Override
  public DecidedBy decidedBy(Rule rule) {
    return DecidedBy.MEMORY;
  }

  @Override
  public TieredOutcome decide(List<RuleClaim> claims, Tiers.Later later) {
    List<Claim> all = new ArrayList<>(claims.size());
    for (int c = 0; c < claims.size(); c++) {
      all.add(claims.get(c).claim());
    }
    Outcome outcome = store.decide(all);
    List<Decision> decisions = outcome.decisions();
    List<DecidedBy> decidedBy = Collections.nCopies(decisions.size(), DecidedBy.MEMORY);
    return new TieredOutcome(outcome.admitted(), decisions, decidedBy);
  }
}
