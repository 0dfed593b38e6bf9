package io.throttlekit.service.admission;

import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.Level;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.LimitOverride;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.ReachedLimit;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.tier.Counters;
import io.throttlekit.tier.DecidedBy;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides requests by the rules of the policies and by their counters.
 *
 * <p>Thread-safe. A request is decided by a single policy book, even if that is replaced meanwhile.
 */
public final class PolicyAdmission implements Admission {
  private static final Logger DECISIONS = LoggerFactory.getLogger(DecisionLog.class);
  private static final Answer UNTOUCHED = new Answer(true, List.of(Verdict.UNTOUCHED));

  private final Supplier<@Nullable PolicyBook> policies;
  private final Counters counters;
  private final ConcurrencyLimiter limiter;
  private final StreamDoneDescriptors streamDone;
  private final CompatibilityConfig compatibility;
  private final boolean cachedDenyDefault;
  private final DecisionListener metrics;

  /**
   * Creates an admission that uses the current book of {@code policies} for each request.
   *
   * @param policies supplies null while none was ever loaded
   * @param cachedDenyDefault whether rules without a tier cache refusals
   */
  public PolicyAdmission(
      Supplier<@Nullable PolicyBook> policies,
      Counters counters,
      ConcurrencyLimiter limiter,
      CompatibilityConfig compatibility,
      boolean cachedDenyDefault,
      DecisionListener metrics) {
    this.policies = policies;
    this.counters = counters;
    this.limiter = limiter;
    this.streamDone = new StreamDoneDescriptors(limiter);
    this.compatibility = compatibility;
    this.cachedDenyDefault = cachedDenyDefault;
    this.metrics = metrics;
  }

  @Override
  public @Nullable Answer decide(RateLimitRequest request, AnswerCallback callback) {
    // before the policies are read: a permit is returned even if its rule is gone
    boolean streamDone = this.streamDone.end(request.descriptors());
    PolicyBook book = policies.get();
    if (book == null) {
      throw new NoPoliciesException();
    }
    Level domain = book.domain(request.domain());
    Answer answer;
    if (domain == null) {
      int count = request.descriptors().size();
      metrics.domainNotFound(request.domain(), count);
      answer = new Answer(true, Collections.nCopies(count, Verdict.OF_UNKNOWN_DOMAIN));
    } else if (request.descriptors().size() > 1) {
      answer = decideMany(request, rulesOf(request, domain, streamDone), callback);
    } else {
      // if the only descriptor is about a permit, no rule applies
      answer = streamDone ? UNTOUCHED : decideOne(request, domain, callback);
    }
    return answer == null ? null : logged(request, answer);
  }

  /**
   * Returns the rule of each descriptor.
   *
   * @param streamDone whether a descriptor is about a permit; such a descriptor matches no rule
   */
  private static @Nullable Rule[] rulesOf(
      RateLimitRequest request, Level domain, boolean streamDone) {
    @Nullable Rule[] rules = new @Nullable Rule[request.descriptors().size()];
    for (int i = 0; i < rules.length; i++) {
      Descriptor descriptor = request.descriptors().get(i);
      boolean aboutPermit = streamDone && StreamDoneDescriptors.isAboutPermit(descriptor);
      rules[i] = aboutPermit ? null : ruleFor(request, domain, descriptor);
    }
    return rules;
  }

  /** Returns the rule of a descriptor: its own override, otherwise the rule of the policies. */
  private static @Nullable Rule ruleFor(
      RateLimitRequest request, Level domain, Descriptor descriptor) {
    LimitOverride override = descriptor.override();
    return override == null
        ? domain.match(descriptor.entries())
        : Rule.override(request.domain(), descriptor.entries(), override);
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
    CounterKey key = limit.counter(rule, entries);
    return new Charge(key, limit.algorithm(), cost, overrun, limit.tenant(rule, entries));
  }

  private @Nullable Answer decideOne(
      RateLimitRequest request, Level domain, AnswerCallback callback) {
    Rule rule = ruleFor(request, domain, request.descriptors().getFirst());
    if (rule == null) {
      return UNTOUCHED;
    }
    if (rule.unlimited()) {
      return new Answer(true, List.of(Verdict.unlimited(rule)));
    }
    return rule.limits().size() == 1
        ? charge(request, rule, callback)
        : decideMany(request, new @Nullable Rule[] {rule}, callback);
  }

  /**
   * Decides a request with a single charge: the path of nearly every request. Lists of claims and a
   * callback are created only if memory cannot decide.
   */
  private @Nullable Answer charge(RateLimitRequest request, Rule rule, AnswerCallback callback) {
    Descriptor descriptor = request.descriptors().getFirst();
    long cost = request.costOf(descriptor);
    Charge charge =
        chargeOf(
            rule,
            rule.limits().getFirst(),
            descriptor.entries(),
            cost,
            compatibility.chargeRejected());
    Decision decision = counters.tryAcquire(charge, rule.tier(), rule.onDataLoss());
    if (decision == null) {
      return many(request, new @Nullable Rule[] {rule}).chargeAfterMiss(charge, counters, callback);
    }
    metrics.decided(rule, descriptor.entries(), cost, decision, rule.shadow());
    Role role = roleOf(rule, descriptor, cost, compatibility.quotaMode());
    DecidedBy by = counters.decidedBy(rule.tier());
    if (by == DecidedBy.CACHED_DENIAL && cost > 0) {
      metrics.refusedFromCache(rule, descriptor.entries(), cost);
    }
    Verdict verdict = Verdict.of(role, rule, rule.limits().getFirst(), decision, by);
    boolean admitted = !verdict.refused();
    if (!admitted && compatibility.shadowMode()) {
      metrics.globalShadow();
      admitted = true;
    }
    return new Answer(admitted, List.of(verdict));
  }

  private @Nullable Answer decideMany(
      RateLimitRequest request, @Nullable Rule[] rules, AnswerCallback callback) {
    ManyDescriptors many = many(request, rules);
    List<ReachedLimit> wanted = many.wanted();
    return wanted.isEmpty()
        ? many.charge(counters, callback)
        : new LimitedAdmission(request, many, counters, limiter.time(), callback)
            .enter(limiter, wanted);
  }

  private ManyDescriptors many(RateLimitRequest request, @Nullable Rule[] rules) {
    return new ManyDescriptors(request, rules, compatibility, cachedDenyDefault, metrics);
  }

  /** Writes a line about the answer if that is wanted, and returns the answer. */
  static Answer logged(RateLimitRequest request, Answer answer) {
    if (DECISIONS.isDebugEnabled()) { // here, so that no line costs no more than this
      DecisionLog.log(DECISIONS, request, answer);
    }
    return answer;
  }
}
