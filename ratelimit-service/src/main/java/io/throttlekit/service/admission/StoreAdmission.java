package io.throttlekit.service.admission;

import io.throttlekit.descriptors.DomainPolicies;
import io.throttlekit.descriptors.OnOutage;
import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.service.telemetry.TierMetrics;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.Tier;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides requests on counters that many processes share, through the tiers of their rules.
 *
 * <p>Thread-safe. A request is decided by one policy book, however often that is exchanged.
 */
public final class StoreAdmission implements Admission {
  private static final Tier CACHED_DENY = new Tier.CachedDeny();

  private final Supplier<@Nullable PolicyBook> policies;
  private final Tiers tiers;
  private final CompatibilityConfig compatibility;
  private final boolean cachedDenyDefault;
  private final RateLimitMetrics metrics;
  private final TierMetrics tierMetrics;

  /**
   * Decides by the book that {@code policies} gives at the time.
   *
   * @param policies gives null while none was ever loaded
   * @param cachedDenyDefault whether strict rules remember refusals all the same
   */
  public StoreAdmission(
      Supplier<@Nullable PolicyBook> policies,
      Tiers tiers,
      CompatibilityConfig compatibility,
      boolean cachedDenyDefault,
      RateLimitMetrics metrics,
      TierMetrics tierMetrics) {
    this.policies = policies;
    this.tiers = tiers;
    this.compatibility = compatibility;
    this.cachedDenyDefault = cachedDenyDefault;
    this.metrics = metrics;
    this.tierMetrics = tierMetrics;
  }

  @Override
  public @Nullable Answer decide(RateLimitRequest request, Later later) {
    PolicyBook book = policies.get();
    if (book == null) {
      throw new NoPoliciesException();
    }
    DomainPolicies domain = book.domain(request.domain());
    if (domain == null) {
      metrics.domainNotFound(request.domain());
      int count = request.descriptors().size();
      return told(request, new Answer(true, Collections.nCopies(count, Verdict.UNTOUCHED)));
    }
    ManyDescriptors many = new ManyDescriptors(request, domain, compatibility, metrics);
    List<RuleClaim> claims = many.claims();
    if (claims.isEmpty()) {
      return told(request, many.answer(true, List.of(), List.of()));
    }
    TieredOutcome outcome = tiers.acquire(tiered(claims), new Answering(request, many, later));
    return outcome == null ? null : answer(request, many, outcome);
  }

  private List<TieredClaim> tiered(List<RuleClaim> claims) {
    List<TieredClaim> tiered = new ArrayList<>(claims.size());
    for (RuleClaim claim : claims) {
      Rule rule = claim.rule();
      tiered.add(new TieredClaim(claim.claim(), tierOf(rule), outageOf(rule.onOutage())));
    }
    return tiered;
  }

  private Tier tierOf(Rule rule) {
    boolean remembers = cachedDenyDefault && rule.tier() instanceof Tier.Strict;
    return remembers && !rule.overdraft() ? CACHED_DENY : rule.tier();
  }

  private static Outage outageOf(OnOutage onOutage) {
    return switch (onOutage) {
      case ERROR, REGIONAL_ONLY -> Outage.ERROR;
      case DENY -> Outage.DENY;
      case ALLOW -> Outage.ALLOW;
      case LOCAL -> Outage.LOCAL;
    };
  }

  private Answer answer(RateLimitRequest request, ManyDescriptors many, TieredOutcome outcome) {
    outcome.decidedBy().forEach(tierMetrics::decided);
    return told(request, many.answer(outcome.admitted(), outcome.decisions(), outcome.decidedBy()));
  }

  private static Answer told(RateLimitRequest request, Answer answer) {
    if (DecisionLog.on()) {
      DecisionLog.tell(request, answer);
    }
    return answer;
  }

  /** Turns what the tiers say later into an answer. */
  private final class Answering implements Tiers.Later {
    private final RateLimitRequest request;
    private final ManyDescriptors many;
    private final Later later;

    Answering(RateLimitRequest request, ManyDescriptors many, Later later) {
      this.request = request;
      this.many = many;
      this.later = later;
    }

    @Override
    public void decided(TieredOutcome outcome) {
      later.answered(answer(request, many, outcome));
    }

    @Override
    public void failed(StoreException cause) {
      later.failed(cause);
    }
  }
}
