package io.throttlekit.service.admission;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.lease.Tier;
import io.throttlekit.store.Charge;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.OutcomeCallback;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
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
  public @Nullable Decision tryAcquire(Rule rule, Charge charge) {
    return rule.tier() instanceof Tier.Leasing leased
        ? tiers.tryAcquire(charge, leased, rule.onDataLoss())
        : null;
  }

  @Override
  public DecidedBy decidedBy(Rule rule) {
    return rule.tier() instanceof Tier.Global ? DecidedBy.GLOBAL_LEASE : DecidedBy.LEASE;
  }

  @Override
  public Tier tierOf(Rule rule) {
    // policies reject overdraft with cached_deny, so the default must not combine them
    boolean remembers = cachedDenyDefault && !rule.namesTier() && !rule.overdraft();
    return remembers ? CACHED_DENY : rule.tier();
  }

  @Override
  public @Nullable TieredOutcome acquireAfterMiss(TieredClaim claim, OutcomeCallback callback) {
    return tiers.acquireAfterMiss(claim, callback);
  }

  @Override
  public @Nullable TieredOutcome acquire(List<TieredClaim> claims, OutcomeCallback callback) {
    return tiers.acquire(claims, callback);
  }
}
