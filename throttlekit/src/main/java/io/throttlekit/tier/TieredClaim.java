package io.throttlekit.tier;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.rate.FixedWindow;
import java.util.List;

/**
 * A claim, and how it is shared.
 *
 * @param tier how its charges are decided
 * @param outage what is answered while the store is not
 */
public record TieredClaim(Claim claim, Tier tier, Outage outage) {

  /** Checks that what is leased is fixed windows. */
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
