package io.throttlekit.tier;

import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import java.util.List;

/**
 * A claim with its tier.
 *
 * @param tier the way its charges are decided
 * @param outage the decision while the store does not answer
 */
public record TieredClaim(Claim claim, Tier tier, Outage outage) {

  /** Checks that only fixed windows are leased. */
  public TieredClaim {
    if (tier instanceof Tier.Leasing) {
      List<Charge> charges = claim.charges();
      for (int i = 0; i < charges.size(); i++) {
        if (!(charges.get(i).algorithm() instanceof FixedWindow)) {
          throw new IllegalArgumentException("only fixed windows can be leased");
        }
      }
    }
  }
}
