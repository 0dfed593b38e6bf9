package io.throttlekit.service.admission;

import io.throttlekit.Charge;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.OnOutage;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.Tier;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Counters shared by many processes, through the tiers of their rules.
 *
 * @param cachedDenyDefault whether rules without a tier cache refusals
 */
public record TieredCounters(Tiers tiers, boolean cachedDenyDefault) implements Counters {
  private static final Tier CACHED_DENY = new Tier.CachedDeny();

  @Override
  public boolean mayKnow(Rule rule) {
    return rule.tier() instanceof Tier.Leasing;
  }

  @Override
  public @Nullable Decision decide(Rule rule, Charge charge) {
    return rule.tier() instanceof Tier.Leasing leased
        ? tiers.spend(charge, leased, rule.onDataLoss())
        : null;
  }

  @Override
  public DecidedBy decidedBy(Rule rule) {
    return rule.tier() instanceof Tier.Global ? DecidedBy.GLOBAL_LEASE : DecidedBy.LEASE;
  }

  @Override
  public @Nullable TieredOutcome decide(List<RuleClaim> claims, Tiers.Later later) {
    List<TieredClaim> tiered = new ArrayList<>(claims.size());
    for (RuleClaim claim : claims) {
      Rule rule = claim.rule();
      tiered.add(new TieredClaim(claim.claim(), tierOf(rule), outageOf(rule.onOutage())));
    }
    return tiers.acquire(tiered, later);
  }

  private Tier tierOf(Rule rule) {
    // policies reject overdraft with cached_deny, so the default must not combine them
    boolean remembers = cachedDenyDefault && !rule.namesTier() && !rule.overdraft();
    return remembers ? CACHED_DENY : rule.tier();
  }

  private static Outage outageOf(OnOutage onOutage) {
    return switch (onOutage) {
      case ERROR -> Outage.ERROR;
      // REGIONAL_ONLY: the region's own units are spent before an outage decides
      case DENY, REGIONAL_ONLY -> Outage.DENY;
      case ALLOW -> Outage.ALLOW;
      case LOCAL -> Outage.LOCAL;
    };
  }
}
