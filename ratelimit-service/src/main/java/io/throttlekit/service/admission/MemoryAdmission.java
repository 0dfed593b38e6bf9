package io.throttlekit.service.admission;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.Claim.Role;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.descriptors.Descriptor;
import io.throttlekit.descriptors.DomainPolicies;
import io.throttlekit.descriptors.Limit;
import io.throttlekit.descriptors.LimitOverride;
import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.Outcome;
import io.throttlekit.tier.DecidedBy;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides requests on counters in this process's memory, always at once.
 *
 * <p>Thread-safe. A request is decided by one policy book, however often that is exchanged.
 */
public final class MemoryAdmission implements Admission {
  private static final Answer UNTOUCHED = new Answer(true, List.of(Verdict.UNTOUCHED));

  private final Supplier<@Nullable PolicyBook> policies;
  private final InMemoryStore store;
  private final CompatibilityConfig compatibility;
  private final RateLimitMetrics metrics;

  /**
   * Decides by the book that {@code policies} gives at the time.
   *
   * @param policies gives null while none was ever loaded
   */
  public MemoryAdmission(
      Supplier<@Nullable PolicyBook> policies,
      InMemoryStore store,
      CompatibilityConfig compatibility,
      RateLimitMetrics metrics) {
    this.policies = policies;
    this.store = store;
    this.compatibility = compatibility;
    this.metrics = metrics;
  }

  @Override
  public Answer decide(RateLimitRequest request, Later later) {
    Answer answer = decide(request);
    if (DecisionLog.on()) {
      DecisionLog.tell(request, answer);
    }
    return answer;
  }

  private Answer decide(RateLimitRequest request) {
    PolicyBook book = policies.get();
    if (book == null) {
      throw new NoPoliciesException();
    }
    List<Descriptor> descriptors = request.descriptors();
    DomainPolicies domain = book.domain(request.domain());
    if (domain == null) {
      metrics.domainNotFound(request.domain());
      return new Answer(true, Collections.nCopies(descriptors.size(), Verdict.UNTOUCHED));
    }
    if (descriptors.size() > 1) {
      return decideMany(request, domain);
    }
    Descriptor descriptor = descriptors.getFirst();
    Rule rule = ruleFor(domain, descriptor);
    if (rule == null) {
      return UNTOUCHED;
    }
    if (rule.unlimited()) {
      return new Answer(true, List.of(Verdict.unlimited(rule)));
    }
    if (rule.limits().size() > 1) {
      return decideMany(request, domain);
    }
    return decideOne(request, descriptor, rule, rule.limits().getFirst());
  }

  /** The rule of a descriptor by itself: its own limit, else what the policies say. */
  static @Nullable Rule ruleFor(DomainPolicies domain, Descriptor descriptor) {
    LimitOverride override = descriptor.override();
    return override == null
        ? domain.match(descriptor.entries())
        : Rule.override(domain.name(), descriptor.entries(), override);
  }

  /** What the refusal of a rule means for the request. */
  static Role roleOf(Rule rule, Descriptor descriptor, long cost, boolean quotaMode) {
    if (rule.shadow() || (descriptor.refund() && cost == 0)) {
      return Role.SHADOW; // giving nothing back is a refund too, and refunds are never refused
    }
    return quotaMode || rule.quota() ? Role.QUOTA : Role.ENFORCED;
  }

  static Charge chargeOf(Rule rule, Limit limit, String[] entries, long cost, boolean count) {
    Overrun overrun = count ? Overrun.COUNT : rule.overdraft() ? Overrun.OVERDRAFT : Overrun.REFUSE;
    CounterKey key = CounterKey.of(limit.counterScope(), rule.chargedEntries(entries));
    return new Charge(key, limit.algorithm(), cost, overrun);
  }

  private Answer decideMany(RateLimitRequest request, DomainPolicies domain) {
    ManyDescriptors many = new ManyDescriptors(request, domain, compatibility, metrics);
    List<Claim> claims = many.claims().stream().map(RuleClaim::claim).toList();
    if (claims.isEmpty()) {
      return many.answer(true, List.of(), List.of());
    }
    Outcome outcome = store.decide(claims);
    List<Decision> decisions = outcome.decisions();
    return many.answer(
        outcome.admitted(), decisions, Collections.nCopies(decisions.size(), DecidedBy.MEMORY));
  }

  /** The way of nearly every request: one charge, no lists of claims. */
  private Answer decideOne(
      RateLimitRequest request, Descriptor descriptor, Rule rule, Limit limit) {
    String[] entries = descriptor.entries();
    long cost = request.costOf(descriptor);
    Decision decision =
        store.decide(chargeOf(rule, limit, entries, cost, compatibility.chargeRejected()));
    metrics.decided(rule, entries, cost, decision, rule.shadow());
    Role role = roleOf(rule, descriptor, cost, compatibility.quotaMode());
    Verdict verdict = Verdict.of(role, rule, limit, decision, DecidedBy.MEMORY);
    boolean admitted = !verdict.refused();
    if (!admitted && compatibility.shadowMode()) {
      metrics.globalShadow();
      admitted = true;
    }
    return new Answer(admitted, List.of(verdict));
  }
}
