package io.throttlekit.service.generated;

import com.google.protobuf.Duration;
import com.google.protobuf.UnknownFieldSet;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.throttlekit.Cost;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.descriptors.policy.RandomPolicies.Policy;
import io.throttlekit.descriptors.policy.ReferenceRule;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.rls.OwnFields;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the service should answer, written for reading: claims are tried on drafts of maps, and
 * thrown away when they must not count. Shares nothing with the service but the pure transitions of
 * the algorithms that are no fixed windows.
 */
final class ReferenceService {
  private static final long MAX_REMAINING = 0xFFFF_FFFFL;

  private final CompatibilityConfig mode;
  private final ReferenceCounters counters = new ReferenceCounters();
  private final Map<String, Policy> policies = new HashMap<>();

  /** How often each branch that tests require was taken. */
  final Map<String, Integer> reached = new TreeMap<>();

  ReferenceService(CompatibilityConfig mode) {
    this.mode = mode;
  }

  /** Exchanges the policies and keeps the counters. */
  void policies(List<Policy> all) {
    policies.clear();
    all.forEach(policy -> policies.put(policy.domain(), policy));
  }

  /** Returns the answer, or null for a message that cannot be answered. */
  @Nullable RateLimitResponse answer(RateLimitRequest message, long now) {
    if (!ReferenceRequest.valid(message)) {
      count("invalid", true);
      return null;
    }
    Policy policy = policies.get(message.getDomain());
    List<ReferenceRequest> asked = new ArrayList<>();
    for (RateLimitDescriptor descriptor : message.getDescriptorsList()) {
      asked.add(ReferenceRequest.of(policy, message, descriptor));
    }
    dropReplaced(asked);
    count("unknown domain", policy == null);
    return decide(message.getDomain(), asked, now);
  }

  private void dropReplaced(List<ReferenceRequest> asked) {
    Set<String> names = new HashSet<>();
    for (ReferenceRequest one : asked) {
      ReferenceRule rule = one.rule();
      if (rule != null) {
        names.addAll(rule.replaces());
      }
    }
    for (int i = 0; i < asked.size(); i++) {
      ReferenceRule rule = asked.get(i).rule();
      if (rule != null && !rule.unlimited() && names.contains(rule.name())) {
        asked.set(i, asked.get(i).unmatched());
        count("replaced", true);
      }
    }
  }

  private RateLimitResponse decide(String domain, List<ReferenceRequest> asked, long now) {
    ReferenceCounters tried = counters.draft();
    List<List<Decision>> decisions = new ArrayList<>();
    for (ReferenceRequest one : asked) {
      decisions.add(tryOne(domain, one, tried, now));
    }
    boolean admitted = admits(asked, decisions);
    if (admitted || mode.shadowMode()) {
      tried.keep();
    } else {
      for (int i = 0; i < asked.size(); i++) {
        decisions.set(i, waitForAll(domain, asked, i, decisions.get(i), now));
      }
      for (int i = 0; i < asked.size(); i++) {
        decisions.set(i, countAnyway(domain, asked.get(i), decisions.get(i), counters, now));
      }
    }
    RateLimitResponse.Builder response =
        RateLimitResponse.newBuilder()
            .setOverallCode(admitted || mode.shadowMode() ? Code.OK : Code.OVER_LIMIT);
    for (int i = 0; i < asked.size(); i++) {
      response.addStatuses(status(asked.get(i), decisions.get(i)));
    }
    if (!policies.containsKey(domain)) {
      response.setUnknownFields(own(OwnFields.UNKNOWN_DOMAIN, 1));
    }
    note(asked, decisions, admitted);
    return response.build();
  }

  /** Charges all limits of one descriptor, or only unconditional charges if one refuses. */
  private List<Decision> tryOne(
      String domain, ReferenceRequest one, ReferenceCounters tried, long now) {
    ReferenceCounters draft = tried.draft();
    List<Decision> decisions = new ArrayList<>();
    for (ReferenceRule.Part limit : one.limits()) {
      decisions.add(draft.charge(domain, one, limit.algorithm(), one.cost(), overrun(one), now));
    }
    if (refuses(decisions)) {
      return countAnyway(domain, one, decisions, tried, now);
    }
    draft.keep();
    return decisions;
  }

  /** Extends the wait of a refusal until all its requests to a counter so far would fit. */
  private List<Decision> waitForAll(
      String domain, List<ReferenceRequest> asked, int index, List<Decision> tried, long now) {
    ReferenceRequest one = asked.get(index);
    List<Decision> decisions = new ArrayList<>();
    for (int i = 0; i < tried.size(); i++) {
      RateAlgorithm<?> algorithm = one.limits().get(i).algorithm();
      Decision decision = tried.get(i);
      long before =
          asked.subList(0, index).stream()
              .filter(other -> other.charged().equals(one.charged()) && charges(other, algorithm))
              .filter(other -> (other.tenant() == null) == (one.tenant() == null))
              .mapToLong(other -> Math.max(0, other.cost()))
              .sum();
      if (!decision.admitted() && one.cost() > 0 && before > 0) {
        long together = Math.min(Cost.MAX, before + one.cost());
        long all =
            one.tenant() == null
                ? counters
                    .draft()
                    .charge(domain, one, algorithm, together, Overrun.REFUSE, now)
                    .retryAfterMillis()
                : together > algorithm.limit() ? Decision.NEVER : 0; // it waits for the window
        long wait = Math.max(decision.retryAfterMillis(), all);
        decision = refused(decision, wait);
      }
      decisions.add(decision);
    }
    return decisions;
  }

  private static boolean charges(ReferenceRequest asked, RateAlgorithm<?> algorithm) {
    return asked.limits().stream()
        .map(ReferenceRule.Part::algorithm)
        .anyMatch(other ->
            other.id().equals(algorithm.id()) && other.windowMillis() == algorithm.windowMillis());
  }

  private static Decision refused(Decision decision, long retryAfterMillis) {
    return Decision.refuse(
        decision.limit(), decision.remaining(), decision.resetAfterMillis(), retryAfterMillis);
  }

  /** Counts refunds and overdrafts, and peeks for conditional charges. */
  private List<Decision> countAnyway(
      String domain,
      ReferenceRequest one,
      List<Decision> tried,
      ReferenceCounters counters,
      long now) {
    List<Decision> decisions = new ArrayList<>();
    for (int i = 0; i < tried.size(); i++) {
      ReferenceRule.Part limit = one.limits().get(i);
      boolean counts = one.cost() < 0 || overrun(one) != Overrun.REFUSE;
      boolean looks = !counts && tried.get(i).admitted();
      Decision decision = tried.get(i);
      if (counts || looks) {
        decision =
            counters.charge(
                domain,
                one,
                limit.algorithm(),
                counts ? one.cost() : 0,
                counts ? overrun(one) : Overrun.COUNT,
                now);
      }
      if (!tried.get(i).admitted() && decision.admitted()) {
        decision = refused(decision, tried.get(i).retryAfterMillis());
      }
      decisions.add(
          looks
              ? Decision.admit(decision.limit(), decision.remaining(), decision.resetAfterMillis())
              : decision);
    }
    return decisions;
  }

  private boolean admits(List<ReferenceRequest> asked, List<List<Decision>> decisions) {
    int quotas = 0;
    int passing = 0;
    for (int i = 0; i < asked.size(); i++) {
      ReferenceRequest one = asked.get(i);
      boolean refused = refuses(decisions.get(i)) && !cannotRefuse(one);
      if (one.unlimited()) {
        continue;
      }
      if (one.quota(mode.quotaMode())) {
        quotas++;
        passing += refused ? 0 : 1;
      } else if (refused) {
        return false;
      }
    }
    return quotas == 0 || passing > 0;
  }

  private static boolean cannotRefuse(ReferenceRequest one) {
    ReferenceRule rule = one.rule();
    return rule == null || rule.shadow() || one.refund();
  }

  private Overrun overrun(ReferenceRequest one) {
    ReferenceRule rule = one.rule();
    boolean overdraft = rule != null && rule.overdraft();
    return mode.chargeRejected() ? Overrun.COUNT : overdraft ? Overrun.OVERDRAFT : Overrun.REFUSE;
  }

  private static boolean refuses(List<Decision> decisions) {
    return decisions.stream().anyMatch(decision -> !decision.admitted());
  }

  private static DescriptorStatus status(ReferenceRequest one, List<Decision> decisions) {
    ReferenceRule rule = one.rule();
    DescriptorStatus.Builder status = DescriptorStatus.newBuilder().setCode(Code.OK);
    if (rule == null) {
      return status.build();
    }
    if (rule.unlimited()) {
      return status.setLimitRemaining((int) MAX_REMAINING).build();
    }
    int shown = reported(decisions);
    ReferenceRule.Part limit = rule.limits().get(shown);
    Decision decision = decisions.get(shown);
    boolean hidden = !decision.admitted() && cannotRefuse(one);
    if (!decision.admitted() && !hidden) {
      status.setCode(Code.OVER_LIMIT);
    }
    long remaining = hidden ? 0 : Math.max(0, decision.remaining());
    status.setLimitRemaining((int) Math.min(remaining, MAX_REMAINING));
    LimitUnit unit = limit.unit();
    UnknownFieldSet.Builder own = UnknownFieldSet.newBuilder();
    if (unit == null) {
      own.mergeFrom(own(OwnFields.WINDOW_MILLIS, limit.windowMillis()));
    }
    long burst = limit.algorithm().limit();
    if (burst != limit.requestsPerUnit()) {
      own.mergeFrom(own(OwnFields.BURST, burst));
    }
    status.getCurrentLimitBuilder().setUnknownFields(own.build());
    status
        .getCurrentLimitBuilder()
        .setName(rule.name())
        .setRequestsPerUnit(
            (int)
                (one.tenant() == null
                    ? limit.requestsPerUnit()
                    : Math.min(decision.limit(), MAX_REMAINING)))
        .setUnit(RateLimitResponse.RateLimit.Unit.valueOf(unit == null ? "UNKNOWN" : unit.name()));
    long reset = Math.ceilDiv(decision.resetAfterMillis(), 1_000);
    return status.setDurationUntilReset(Duration.newBuilder().setSeconds(reset)).build();
  }

  private static UnknownFieldSet own(int number, long value) {
    UnknownFieldSet.Field field = UnknownFieldSet.Field.newBuilder().addVarint(value).build();
    return UnknownFieldSet.newBuilder().addField(number, field).build();
  }

  /** Returns the index of the longest refusal, else of the smallest part, else of the first. */
  private static int reported(List<Decision> decisions) {
    int shown = 0;
    for (int i = 1; i < decisions.size(); i++) {
      Decision best = decisions.get(shown);
      Decision next = decisions.get(i);
      boolean better =
          next.admitted() == best.admitted()
              ? next.retryAfterMillis() > best.retryAfterMillis()
                  || (next.retryAfterMillis() == best.retryAfterMillis()
                      && partLeft(next) < partLeft(best))
              : !next.admitted();
      shown = better ? i : shown;
    }
    return shown;
  }

  private static double partLeft(Decision decision) {
    return decision.limit() == 0 ? 0 : (double) decision.remaining() / decision.limit();
  }

  private void note(
      List<ReferenceRequest> asked, List<List<Decision>> decisions, boolean admitted) {
    count("refused", !admitted && !mode.shadowMode());
    count("let pass by the global shadow mode", !admitted && mode.shadowMode());
    count("admitted", admitted);
    for (int i = 0; i < asked.size(); i++) {
      ReferenceRequest one = asked.get(i);
      boolean refused = refuses(decisions.get(i));
      count("refund", one.cost() < 0);
      count("look", one.cost() == 0);
      count("override", one.override());
      count("unlimited", one.unlimited());
      count("unmatched", one.rule() == null);
      count("several limits", one.limits().size() > 1);
      count("several limits, refused", one.limits().size() > 1 && refused);
      count("refused, in shadow mode", refused && cannotRefuse(one));
      count("quota refused, request admitted", refused && admitted && !cannotRefuse(one));
      count("admitted, in a refused request", !refused && !admitted && !one.limits().isEmpty());
      count("shared counter", one.shared());
      count("tenant", one.tenant() != null);
      count("tenant refused", one.tenant() != null && refused);
      count("tenant refunded", one.tenant() != null && one.cost() < 0);
      for (int limit = 0; limit < decisions.get(i).size(); limit++) {
        long whole = one.limits().get(limit).algorithm().limit();
        count(
            "part of a limit", one.tenant() != null && decisions.get(i).get(limit).limit() < whole);
      }
      for (ReferenceRule.Part limit : one.limits()) {
        count(limit.algorithm().id(), true);
      }
    }
  }

  private void count(String branch, boolean taken) {
    if (taken) {
      reached.merge(branch, 1, Integer::sum);
    }
  }
}
