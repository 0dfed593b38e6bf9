package io.throttlekit.tier;

import io.throttlekit.DataLoss;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import java.util.List;

/**
 * All charges of one descriptor of a request, and how they are decided.
 *
 * @param role effect of a refusal on the request
 * @param charges at least one
 * @param onDataLoss effect of a loss of the store's counters
 * @param tier the way its charges are decided
 * @param outage the decision while the store does not answer
 */
public record TieredClaim(
    Claim.Role role, List<Charge> charges, DataLoss onDataLoss, Tier tier, Outage outage) {

  /** Checks that there is at least one charge, and that only fixed windows are leased. */
  public TieredClaim {
    if (charges.isEmpty()) {
      throw new IllegalArgumentException("a claim needs at least one charge");
    }
    charges = List.copyOf(charges);
    if (tier instanceof Tier.Leasing) {
      for (int i = 0; i < charges.size(); i++) { // by index: no iterator per request
        if (!(charges.get(i).algorithm() instanceof FixedWindow)) {
          throw new IllegalArgumentException("only fixed windows can be leased");
        }
      }
    }
  }

  /**
   * Creates an enforced claim of one charge, which fails while the store does not answer, and
   * counts anew after a loss of the store's data.
   */
  public TieredClaim(Charge charge, Tier tier) {
    this(Claim.Role.ENFORCED, List.of(charge), DataLoss.REFILL, tier, Outage.ERROR);
  }

  /** Creates a claim for the tiers from one for a store. */
  public TieredClaim(Claim claim, Tier tier, Outage outage) {
    this(claim.role(), claim.charges(), claim.onDataLoss(), tier, outage);
  }

  /** Returns the claim for a store that decides all its charges. */
  public Claim claim() {
    return new Claim(role, charges, onDataLoss);
  }
}
