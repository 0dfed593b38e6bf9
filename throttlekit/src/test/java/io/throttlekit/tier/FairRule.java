package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import java.util.List;

/** A limit that tenants with listed weights share. */
public record FairRule(FairTerms terms) {

  /** Creates the rule of a limit. */
  public static FairRule of(long limit, long windowMillis) {
    return new FairRule(FairTerms.of(limit, windowMillis));
  }

  /** Returns the counter. */
  public CounterKey pool() {
    return CounterKey.of("shop|fair|" + terms.windowMillis(), "api", "x");
  }

  /** Returns the limit of the counter. */
  public FixedWindow window() {
    return new FixedWindow(terms.limit(), terms.windowMillis());
  }

  /** Returns a tenant. */
  public FairTenant tenant(Object name, long weight) {
    String scope = "shop|tenants|" + terms.windowMillis();
    CounterKey key = CounterKey.of(scope, "api", "x", "org", name.toString());
    return new FairTenant(key, TenantWeight.listed(weight), terms);
  }

  /** Returns a charge. */
  public Charge charge(FairTenant tenant, long cost) {
    return new Charge(pool(), window(), cost, Overrun.REFUSE, tenant);
  }

  TieredClaim claim(Tier tier, FairTenant tenant, long cost) {
    return claim(tier, Outage.ERROR, tenant, cost);
  }

  TieredClaim claim(Tier tier, Outage outage, FairTenant tenant, long cost) {
    Claim claim = new Claim(Role.ENFORCED, List.of(charge(tenant, cost)), DataLoss.REFILL);
    return new TieredClaim(claim, tier, outage);
  }
}
