package io.throttlekit.service.admission;

import io.throttlekit.Charge;
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
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.LeaseEnd;
import io.throttlekit.service.concurrency.SlotRequest;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides requests by the rules of the policies and by their counters.
 *
 * <p>Thread-safe. A request is decided by a single policy book, even if that is replaced meanwhile.
 */
public final class PolicyAdmission implements Admission {
  private static final Answer UNTOUCHED = new Answer(true, List.of(Verdict.UNTOUCHED));

  private final Supplier<@Nullable PolicyBook> policies;
  private final Counters counters;
  private final ConcurrencyLimiter gate;
  private final CompatibilityConfig compatibility;
  private final RateLimitMetrics metrics;

  /**
   * Creates an admission that uses the current book of {@code policies} for each request.
   *
   * @param policies supplies null while none was ever loaded
   */
  public PolicyAdmission(
      Supplier<@Nullable PolicyBook> policies,
      Counters counters,
      ConcurrencyLimiter gate,
      CompatibilityConfig compatibility,
      RateLimitMetrics metrics) {
    this.policies = policies;
    this.counters = counters;
    this.gate = gate;
    this.compatibility = compatibility;
    this.metrics = metrics;
  }

  @Override
  public @Nullable Answer decide(RateLimitRequest request, Later later) {
    // before the policies are read: a lease must end even if its rule is gone
    boolean releases = endLeases(request);
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
    Answer answer =
        request.descriptors().size() == 1
            // the only descriptor releases a lease: no rule applies
            ? releases ? UNTOUCHED : decideOne(request, domain, later)
            : decideMany(request, rulesOf(request, domain, releases), later);
    return answer == null ? null : told(request, answer);
  }

  /**
   * Ends the leases that the request releases, whatever the policies are, and returns whether it
   * names any.
   */
  private boolean endLeases(RateLimitRequest request) {
    boolean any = false;
    List<Descriptor> descriptors = request.descriptors();
    for (int i = 0; i < descriptors.size(); i++) {
      String id = leaseOf(descriptors.get(i));
      if (id != null) {
        any = true;
        gate.leases().end(id, LeaseEnd.STREAM_DONE);
      }
    }
    return any;
  }

  /** Returns the id of the lease that a descriptor releases, or null if it releases none. */
  private static @Nullable String leaseOf(Descriptor descriptor) {
    String[] entries = descriptor.entries();
    for (int i = 0; i + 1 < entries.length; i += 2) {
      if (entries[i].equals(Rule.LEASE_ENTRY)) {
        return entries[i + 1];
      }
    }
    return null;
  }

  /**
   * Returns the rule of each descriptor.
   *
   * @param releases whether a descriptor releases a lease; such a descriptor matches no rule
   */
  private static @Nullable Rule[] rulesOf(
      RateLimitRequest request, DomainPolicies domain, boolean releases) {
    @Nullable Rule[] rules = new @Nullable Rule[request.descriptors().size()];
    for (int i = 0; i < rules.length; i++) {
      Descriptor descriptor = request.descriptors().get(i);
      boolean release = releases && leaseOf(descriptor) != null;
      rules[i] = release ? null : ruleFor(domain, descriptor);
    }
    return rules;
  }

  /** Returns the rule of a descriptor: its own override, otherwise the rule of the policies. */
  private static @Nullable Rule ruleFor(DomainPolicies domain, Descriptor descriptor) {
    LimitOverride override = descriptor.override();
    return override == null
        ? domain.match(descriptor.entries())
        : Rule.override(domain.name(), descriptor.entries(), override);
  }

  /** Returns how a refusal by the rule affects the request. */
  static Role roleOf(Rule rule, Descriptor descriptor, long cost, boolean quotaMode) {
    if (rule.shadow() || (descriptor.refund() && cost == 0)) {
      return Role.SHADOW; // a refund of 0 is a refund as well, and refunds are never refused
    }
    return quotaMode || rule.quota() ? Role.QUOTA : Role.ENFORCED;
  }

  static Charge chargeOf(Rule rule, Limit limit, String[] entries, long cost, boolean count) {
    Overrun overrun = count ? Overrun.COUNT : rule.overdraft() ? Overrun.OVERDRAFT : Overrun.REFUSE;
    CounterKey key = CounterKey.of(limit.counterScope(), rule.chargedEntries(entries));
    return new Charge(key, limit.algorithm(), cost, overrun);
  }

  private @Nullable Answer decideOne(RateLimitRequest request, DomainPolicies domain, Later later) {
    Rule rule = ruleFor(domain, request.descriptors().getFirst());
    Answer atOnce = decideAtOnce(request, rule);
    return atOnce != null ? atOnce : decideMany(request, new @Nullable Rule[] {rule}, later);
  }

  /**
   * Decides a request with a single charge without lists of claims: the path of nearly every
   * request. Returns null if the request needs more than that.
   */
  private @Nullable Answer decideAtOnce(RateLimitRequest request, @Nullable Rule rule) {
    if (rule == null) {
      return UNTOUCHED;
    }
    if (rule.unlimited()) {
      return new Answer(true, List.of(Verdict.unlimited(rule)));
    }
    return rule.limits().size() == 1 && counters.mayKnow(rule)
        ? decideAtOnce(request, rule, rule.limits().getFirst())
        : null;
  }

  private @Nullable Answer decideAtOnce(RateLimitRequest request, Rule rule, Limit limit) {
    Descriptor descriptor = request.descriptors().getFirst();
    String[] entries = descriptor.entries();
    long cost = request.costOf(descriptor);
    Charge charge = chargeOf(rule, limit, entries, cost, compatibility.chargeRejected());
    Decision decision = counters.decide(rule, charge);
    if (decision == null) {
      return null;
    }
    metrics.decided(rule, entries, cost, decision, rule.shadow());
    Role role = roleOf(rule, descriptor, cost, compatibility.quotaMode());
    Verdict verdict = Verdict.of(role, rule, limit, decision, counters.decidedBy(rule));
    boolean admitted = !verdict.refused();
    if (!admitted && compatibility.shadowMode()) {
      metrics.globalShadow();
      admitted = true;
    }
    return new Answer(admitted, List.of(verdict));
  }

  private @Nullable Answer decideMany(
      RateLimitRequest request, @Nullable Rule[] rules, Later later) {
    ManyDescriptors many = new ManyDescriptors(request, rules, compatibility, metrics);
    List<SlotRequest> wanted = many.wanted();
    return wanted.isEmpty()
        ? charge(request, many, later)
        : new LimitedAdmission(request, many, counters, gate.time(), later).enter(gate, wanted);
  }

  private @Nullable Answer charge(RateLimitRequest request, ManyDescriptors many, Later later) {
    List<RuleClaim> claims = many.claims();
    if (claims.isEmpty()) {
      return many.nothingCharged();
    }
    TieredOutcome outcome = counters.decide(claims, new Answering(request, many, later));
    return outcome == null ? null : many.answer(outcome);
  }

  static Answer told(RateLimitRequest request, Answer answer) {
    if (DecisionLog.on()) {
      DecisionLog.tell(request, answer);
    }
    return answer;
  }

  /** Converts a deferred outcome of the counters to an answer. */
  private record Answering(RateLimitRequest request, ManyDescriptors many, Later later)
      implements Tiers.Later {

    @Override
    public void decided(TieredOutcome outcome) {
      Answer answer;
      try {
        answer = told(request, many.answer(outcome));
      } catch (RuntimeException unexpected) { // without this the call would never be answered
        later.failed(unexpected);
        return;
      }
      later.answered(answer);
    }

    @Override
    public void failed(StoreException cause) {
      later.failed(cause);
    }

    @Override
    public long waitTimeoutNanos() {
      return later.waitTimeoutNanos();
    }
  }
}
