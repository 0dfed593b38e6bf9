package io.throttlekit.service.admission;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.lease.Tier;
import io.throttlekit.service.concurrency.PermitAcquisition;
import io.throttlekit.service.concurrency.ReachedLimit;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.RequestWait;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.Counters;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.OutcomeCallback;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One request with several charges: drops the rules that other rules replace, and charges the rest
 * as one.
 *
 * <p>For one decision; one thread at a time.
 */
final class ManyDescriptors implements OutcomeCallback {

  private static final TieredOutcome NOTHING_CHARGED =
      new TieredOutcome(true, List.of(), List.of());

  /** No index of a list. */
  private static final int NOT_WANTED = -1;

  private final RateLimitRequest request;
  private final CompatibilityConfig compatibility;
  private final boolean cachedDenyDefault;
  private final DecisionListener metrics;
  private final @Nullable Rule[] rules;

  /**
   * Index among {@link #wanted} of the concurrency limit of each descriptor; empty if there are
   * none.
   */
  private int[] wantedAt = {};

  private @Nullable PermitAcquisition entering;

  /** Receives an answer that is not known at once; set before the charge. */
  private @Nullable AnswerCallback callback;

  /** Whether a descriptor in quota mode is certain to pass, so that the others cannot refuse. */
  private final boolean quotaPasses;

  /**
   * Creates a request from the rules that matched.
   *
   * @param rules the rule that matched each descriptor, or null; modified by this object
   * @param cachedDenyDefault whether rules without a tier cache refusals
   */
  ManyDescriptors(
      RateLimitRequest request,
      @Nullable Rule[] rules,
      CompatibilityConfig compatibility,
      boolean cachedDenyDefault,
      DecisionListener metrics) {
    this.request = request;
    this.compatibility = compatibility;
    this.cachedDenyDefault = cachedDenyDefault;
    this.metrics = metrics;
    this.rules = rules;
    dropReplaced();
    this.quotaPasses = findPassingQuota();
  }

  /** Charges the rules and returns the answer, or null if {@code later} receives it. */
  @Nullable Answer charge(Counters counters, AnswerCallback later) {
    callback = later;
    List<TieredClaim> claims = claims();
    TieredOutcome outcome = claims.isEmpty() ? NOTHING_CHARGED : counters.acquire(claims, this);
    return outcome == null ? null : answer(outcome);
  }

  /**
   * Charges the only rule, after {@code missed} could not be decided from memory; otherwise as
   * {@link #charge}.
   */
  @Nullable Answer chargeAfterMiss(Charge missed, Counters counters, AnswerCallback later) {
    Rule rule = Objects.requireNonNull(rules[0], "nothing was charged");
    callback = later;
    TieredOutcome outcome = counters.acquireAfterMiss(claim(0, rule, List.of(missed)), this);
    return outcome == null ? null : answer(outcome);
  }

  private AnswerCallback callback() {
    return Objects.requireNonNull(callback, "called back without a charge");
  }

  @Override
  public void decided(TieredOutcome outcome) {
    Answer answer;
    try {
      answer = answer(outcome);
      if (entering == null) { // else the answer is not complete without its permit
        var _ = PolicyAdmission.logged(request, answer);
      }
    } catch (RuntimeException | Error unexpected) { // else the call would never be answered
      callback().failed(unexpected);
      return;
    }
    callback().answered(answer);
  }

  @Override
  public void failed(StoreException cause) {
    callback().failed(cause);
  }

  @Override
  public long waitTimeoutNanos() {
    return callback().waitTimeoutNanos();
  }

  /** Returns the answer to decisions on the claims, and records its metrics. */
  private Answer answer(TieredOutcome outcome) {
    List<Verdict> verdicts = verdicts(outcome.decisions(), outcome.decidedBy());
    if (!compatibility.shadowMode()) {
      return new Answer(outcome.admitted(), verdicts, quotaPasses, null);
    }
    if (wouldRefuse(verdicts)) {
      metrics.globalShadow();
    }
    return new Answer(true, verdicts);
  }

  /** Returns the answer if a concurrency limit refuses the request; no counter is charged then. */
  Answer refusedByLimiter() {
    Verdict[] verdicts = new Verdict[rules.length];
    for (int i = 0; i < verdicts.length; i++) {
      Verdict verdict = ofConcurrency(i);
      verdicts[i] = verdict == null ? Verdict.UNTOUCHED : verdict;
    }
    return new Answer(false, Arrays.asList(verdicts));
  }

  /**
   * Returns the concurrency limits that the request reaches and that the service enforces; mostly
   * none.
   */
  List<ReachedLimit> wanted() {
    List<ReachedLimit> wanted = List.of();
    for (int i = 0; i < rules.length; i++) {
      Rule rule = rules[i];
      ConcurrencyRule terms = rule == null ? null : rule.concurrency();
      if (rule != null && terms != null && terms.gate() instanceof ConcurrencyRule.AtService gate) {
        if (wanted.isEmpty()) {
          wanted = new ArrayList<>(1);
          wantedAt = new int[rules.length];
          Arrays.fill(wantedAt, NOT_WANTED);
        }
        Descriptor descriptor = request.descriptors().get(i);
        long cost = request.costOf(descriptor);
        if (cost >= 0 && !descriptor.refund()) { // a refund has nothing in flight
          wantedAt[i] = wanted.size();
          boolean refuses = !rule.shadow() && !compatibility.shadowMode();
          wanted.add(new ReachedLimit(rule, terms, gate, descriptor.entries(), cost == 0, refuses));
        }
      }
    }
    return wanted;
  }

  /** Records the decisions of the concurrency limits. */
  void entered(PermitAcquisition by) {
    entering = by;
  }

  private @Nullable Verdict ofConcurrency(int index) {
    Rule rule = rules[index];
    PermitAcquisition by = entering;
    int number = wantedAt.length == 0 ? NOT_WANTED : wantedAt[index];
    Decision decision = by == null || number == NOT_WANTED ? null : by.decision(number);
    if (rule == null || decision == null) {
      return null;
    }
    Descriptor descriptor = request.descriptors().get(index);
    // a request occupies one permit whatever it costs
    long hits = Math.min(1, request.costOf(descriptor));
    metrics.decided(rule, descriptor.entries(), hits, decision, rule.shadow());
    Role role = rule.shadow() ? Role.SHADOW : Role.ENFORCED;
    return Verdict.of(role, rule, null, decision, DecidedBy.MEMORY);
  }

  /** Drops replaced rules. The names that a rule replaces count even if it is replaced itself. */
  private void dropReplaced() {
    Set<String> replaced = Set.of();
    for (Rule rule : rules) {
      if (rule != null && !rule.replaces().isEmpty()) {
        replaced = replaced.isEmpty() ? new HashSet<>() : replaced;
        replaced.addAll(rule.replaces());
      }
    }
    if (replaced.isEmpty()) {
      return;
    }
    for (int i = 0; i < rules.length; i++) {
      Rule rule = rules[i];
      if (rule != null && !rule.unlimited() && replaced.contains(rule.name())) {
        rules[i] = null;
      }
    }
  }

  private boolean findPassingQuota() {
    boolean passes = false;
    for (int i = 0; i < rules.length; i++) {
      Rule rule = rules[i];
      if (rule == null) {
        passes |= compatibility.quotaMode();
      } else if (!rule.limits().isEmpty() && role(rule, i) == Role.SHADOW) {
        passes |= rule.quota() || compatibility.quotaMode();
      }
    }
    return passes;
  }

  /** Returns the combination of the descriptors' decisions, without any of them yet. */
  private RequestWait combination() {
    RequestWait request = new RequestWait();
    if (quotaPasses) {
      request.quotaPasses();
    }
    return request;
  }

  /** Returns the charges in the order of the descriptors; may be empty. */
  private List<TieredClaim> claims() {
    List<TieredClaim> claims = new ArrayList<>(rules.length);
    for (int i = 0; i < rules.length; i++) {
      Rule rule = rules[i];
      if (rule != null && !rule.limits().isEmpty()) {
        claims.add(claim(i, rule, charges(rule, i)));
      }
    }
    return claims;
  }

  private TieredClaim claim(int index, Rule rule, List<Charge> charges) {
    Role role = combination().effectOf(role(rule, index));
    Outage outage =
        switch (rule.onOutage()) {
          case ERROR -> Outage.ERROR;
          // REGIONAL_ONLY: the region's own units are spent before an outage decides
          case DENY, REGIONAL_ONLY -> Outage.DENY;
          case ALLOW -> Outage.ALLOW;
          case LOCAL -> Outage.LOCAL;
        };
    return new TieredClaim(
        compatibility.shadowMode() ? Role.SHADOW : role,
        charges,
        rule.onDataLoss(),
        tierOf(rule),
        outage);
  }

  private Tier tierOf(Rule rule) {
    return cachedDenyDefault ? rule.tierWithCachedDenyDefault() : rule.tier();
  }

  private Role role(Rule rule, int index) {
    Descriptor descriptor = request.descriptors().get(index);
    return PolicyAdmission.roleOf(
        rule, descriptor, request.costOf(descriptor), compatibility.quotaMode());
  }

  private List<Charge> charges(Rule rule, int index) {
    Descriptor descriptor = request.descriptors().get(index);
    long cost = request.costOf(descriptor);
    List<Charge> charges = new ArrayList<>(rule.limits().size());
    for (Limit limit : rule.limits()) {
      charges.add(
          PolicyAdmission.chargeOf(
              rule, limit, descriptor.entries(), cost, compatibility.chargeRejected()));
    }
    return charges;
  }

  private List<Verdict> verdicts(List<Decision> decisions, List<DecidedBy> decidedBy) {
    Verdict[] verdicts = new Verdict[rules.length];
    int first = 0;
    for (int i = 0; i < rules.length; i++) {
      Rule rule = rules[i];
      if (rule == null) {
        verdicts[i] = Verdict.UNTOUCHED;
      } else if (rule.limits().isEmpty()) {
        Verdict verdict = ofConcurrency(i);
        verdicts[i] = verdict == null ? Verdict.unlimited(rule) : verdict;
      } else {
        int end = first + rule.limits().size();
        verdicts[i] =
            verdict(rule, i, decisions.subList(first, end), decidedBy.subList(first, end));
        first = end;
      }
    }
    return Arrays.asList(verdicts);
  }

  private Verdict verdict(
      Rule rule, int index, List<Decision> decisions, List<DecidedBy> decidedBy) {
    int reported = 0;
    for (int i = 1; i < decisions.size(); i++) {
      if (isMoreInformative(decisions.get(i), decisions.get(reported))) {
        reported = i;
      }
    }
    Decision decision = decisions.get(reported);
    Descriptor descriptor = request.descriptors().get(index);
    long cost = request.costOf(descriptor);
    metrics.decided(rule, descriptor.entries(), cost, decision, rule.shadow());
    DecidedBy by = decidedBy.get(reported);
    if (by == DecidedBy.CACHED_DENIAL && cost > 0) {
      metrics.refusedFromCache(rule, descriptor.entries(), cost);
    }
    return Verdict.of(role(rule, index), rule, rule.limits().get(reported), decision, by);
  }

  /**
   * Returns whether {@code one} is reported rather than {@code other}: a refusal before an
   * admission, then the longer wait, then the smaller remaining fraction.
   */
  private static boolean isMoreInformative(Decision one, Decision other) {
    if (one.admitted() != other.admitted()) {
      return !one.admitted();
    }
    if (one.retryAfterMillis() != other.retryAfterMillis()) {
      return one.retryAfterMillis() > other.retryAfterMillis();
    }
    return remainingFraction(one) < remainingFraction(other);
  }

  private static double remainingFraction(Decision decision) {
    // a limit of 0 would give NaN
    return decision.limit() == 0 ? 0 : (double) decision.remaining() / decision.limit();
  }

  private boolean wouldRefuse(List<Verdict> verdicts) {
    RequestWait request = combination();
    for (Verdict verdict : verdicts) {
      request.add(verdict.role(), verdict.refused());
    }
    return request.refused();
  }
}
