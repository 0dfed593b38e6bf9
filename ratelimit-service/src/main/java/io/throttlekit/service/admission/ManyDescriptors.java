package io.throttlekit.service.admission;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.Claim.Role;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.ConcurrencyRule;
import io.throttlekit.descriptors.Descriptor;
import io.throttlekit.descriptors.Limit;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.service.concurrency.SlotAcquisition;
import io.throttlekit.service.concurrency.SlotRequest;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.TieredOutcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One request with several charges: drops the rules that other rules replace, and charges the rest
 * as one.
 *
 * <p>For one thread and one decision.
 */
final class ManyDescriptors {
  // no index of a list
  private static final int NOT_WANTED = -1;

  private final RateLimitRequest request;
  private final CompatibilityConfig compatibility;
  private final RateLimitMetrics metrics;
  private final @Nullable Rule[] rules;

  /**
   * Index among {@link #wanted} of the concurrency limit of each descriptor; empty if there are
   * none.
   */
  private int[] wantedAt = {};

  private @Nullable SlotAcquisition entering;

  /** Whether a descriptor in quota mode is certain to pass, so that the others cannot refuse. */
  private boolean quotaPasses;

  /**
   * Creates a request from the rules that matched.
   *
   * @param rules the rule that matched each descriptor, or null; modified by this object
   */
  ManyDescriptors(
      RateLimitRequest request,
      @Nullable Rule[] rules,
      CompatibilityConfig compatibility,
      RateLimitMetrics metrics) {
    this.request = request;
    this.compatibility = compatibility;
    this.metrics = metrics;
    this.rules = rules;
    dropReplaced();
    findPassingQuota();
  }

  /** Returns the answer to decisions on {@link #claims}, and records its metrics. */
  Answer answer(TieredOutcome outcome) {
    List<Verdict> verdicts = verdicts(outcome.decisions(), outcome.decidedBy());
    if (!compatibility.shadowMode()) {
      return new Answer(outcome.admitted(), verdicts, quotaPasses);
    }
    if (wouldRefuse(verdicts)) {
      metrics.globalShadow();
    }
    return new Answer(true, verdicts);
  }

  /** Returns the answer if there are no {@link #claims}. */
  Answer nothingCharged() {
    return shadowed(new Answer(true, verdicts(List.of(), List.of())));
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

  private Answer shadowed(Answer answer) {
    if (compatibility.shadowMode() && wouldRefuse(answer.verdicts())) {
      metrics.globalShadow();
    }
    return answer;
  }

  /**
   * Returns the concurrency limits that the request reaches and that the service enforces; mostly
   * none.
   */
  List<SlotRequest> wanted() {
    List<SlotRequest> wanted = List.of();
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
          wanted.add(new SlotRequest(rule, terms, gate, descriptor.entries(), cost == 0, refuses));
        }
      }
    }
    return wanted;
  }

  /** Records the decisions of the concurrency limits. */
  void entered(SlotAcquisition by) {
    entering = by;
  }

  private @Nullable Verdict ofConcurrency(int index) {
    Rule rule = rules[index];
    SlotAcquisition by = entering;
    int number = wantedAt.length == 0 ? NOT_WANTED : wantedAt[index];
    Decision decision = by == null || number == NOT_WANTED ? null : by.decision(number);
    if (rule == null || decision == null) {
      return null;
    }
    Descriptor descriptor = request.descriptors().get(index);
    // a request occupies one slot whatever it costs
    long hits = Math.min(1, request.costOf(descriptor));
    metrics.decided(rule, descriptor.entries(), hits, decision, rule.shadow());
    return Verdict.ofConcurrency(rule.shadow() ? Role.SHADOW : Role.ENFORCED, rule, decision);
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

  private void findPassingQuota() {
    for (int i = 0; i < rules.length; i++) {
      Rule rule = rules[i];
      if (rule == null) {
        quotaPasses |= compatibility.quotaMode();
      } else if (!rule.limits().isEmpty() && role(rule, i) == Role.SHADOW) {
        quotaPasses |= rule.quota() || compatibility.quotaMode();
      }
    }
  }

  /** Returns the charges in the order of the descriptors; may be empty. */
  List<RuleClaim> claims() {
    List<RuleClaim> claims = new ArrayList<>(rules.length);
    for (int i = 0; i < rules.length; i++) {
      Rule rule = rules[i];
      if (rule != null && !rule.limits().isEmpty()) {
        claims.add(
            new RuleClaim(
                rule, new Claim(chargingRole(rule, i), charges(rule, i), rule.onDataLoss())));
      }
    }
    return claims;
  }

  private Role chargingRole(Rule rule, int index) {
    Role role = role(rule, index);
    boolean cannotRefuse = compatibility.shadowMode() || (role == Role.QUOTA && quotaPasses);
    return cannotRefuse ? Role.SHADOW : role;
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
    int telling = 0;
    for (int i = 1; i < decisions.size(); i++) {
      if (isMoreInformative(decisions.get(i), decisions.get(telling))) {
        telling = i;
      }
    }
    Decision decision = decisions.get(telling);
    Descriptor descriptor = request.descriptors().get(index);
    metrics.decided(
        rule, descriptor.entries(), request.costOf(descriptor), decision, rule.shadow());
    return Verdict.of(
        role(rule, index), rule, rule.limits().get(telling), decision, decidedBy.get(telling));
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
    boolean anyQuota = false;
    boolean quotaPassed = quotaPasses;
    for (Verdict verdict : verdicts) {
      if (verdict.role() == Role.QUOTA) {
        anyQuota = true;
        quotaPassed |= !verdict.refused();
      } else if (verdict.refused()) {
        return true;
      }
    }
    return anyQuota && !quotaPassed;
  }
}
