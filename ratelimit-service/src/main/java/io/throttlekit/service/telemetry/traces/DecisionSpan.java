package io.throttlekit.service.telemetry.traces;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.common.Clock;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.lease.Tier;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.log.DescriptorText;
import io.throttlekit.service.log.PrintableText;
import io.throttlekit.service.server.CallTracing;
import io.throttlekit.share.FleetFigures;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The span of one traced request. It ends when the answer is ready, which is before it is sent, so
 * that it does not end after the caller's span of the call.
 */
final class DecisionSpan implements CallTracing.CallSpan {
  private static final AttributeKey<String> DOMAIN = AttributeKey.stringKey("ratelimit.domain");
  private static final AttributeKey<String> RULE = AttributeKey.stringKey("ratelimit.rule");
  private static final AttributeKey<String> DECISION = AttributeKey.stringKey("ratelimit.decision");
  private static final AttributeKey<Long> LIMIT = AttributeKey.longKey("ratelimit.limit");
  private static final AttributeKey<Long> REMAINING = AttributeKey.longKey("ratelimit.remaining");
  private static final AttributeKey<Long> RESET = AttributeKey.longKey("ratelimit.reset_after_ms");
  private static final AttributeKey<Long> COST = AttributeKey.longKey("ratelimit.cost");
  private static final AttributeKey<String> DECIDED_IN =
      AttributeKey.stringKey("ratelimit.decided_in");
  private static final AttributeKey<String> DESCRIPTOR =
      AttributeKey.stringKey("ratelimit.descriptor");
  private static final AttributeKey<List<String>> DESCRIPTORS =
      AttributeKey.stringArrayKey("ratelimit.descriptors");
  private static final AttributeKey<String> COUNTER = AttributeKey.stringKey("ratelimit.counter");
  private static final AttributeKey<Long> SHARE = AttributeKey.longKey("ratelimit.share");
  private static final AttributeKey<Long> FLEET_LIMIT =
      AttributeKey.longKey("ratelimit.fleet_limit");
  private static final AttributeKey<String> STEERING =
      AttributeKey.stringKey("ratelimit.steering_node");
  private static final AttributeKey<String> TENANT = AttributeKey.stringKey("ratelimit.tenant");
  private static final AttributeKey<Double> TENANT_WEIGHT =
      AttributeKey.doubleKey("ratelimit.tenant_weight");
  private static final AttributeKey<String> TIER = AttributeKey.stringKey("ratelimit.tier");

  /** The event of each rule, of a request that reached several. */
  private static final String RULE_EVENT = "ratelimit.rule";

  /** Bounds the events and the descriptors of a span: a request may have a thousand descriptors. */
  private static final int MAX_RULES = 32;

  private static final double THOUSANDTHS = 1_000;

  private final Span span;
  private final SpanContents contents;
  private final Clock clock;
  private volatile long answeredEpochNanos; // 0 before the answer

  /**
   * Creates the span of a request.
   *
   * @param span started by a tracer with {@code clock}
   */
  DecisionSpan(Span span, SpanContents contents, Clock clock) {
    this.span = span;
    this.contents = contents;
    this.clock = clock;
  }

  @Override
  public void decided(String domain, String rule, boolean admitted, long remaining, String where) {
    span.setAttribute(DOMAIN, PrintableText.of(domain));
    span.setAttribute(DECISION, admitted ? "ok" : "over_limit");
    span.setAttribute(DECIDED_IN, where);
    if (!rule.isEmpty()) {
      span.setAttribute(RULE, rule);
      span.setAttribute(REMAINING, remaining);
    }
  }

  @Override
  public void decided(RateLimitRequest request, Answer answer) {
    CallTracing.CallSpan.super.decided(request, answer);
    List<Descriptor> descriptors = request.descriptors();
    if (contents.values().plain()) {
      span.setAttribute(
          DESCRIPTORS, descriptors.stream().limit(MAX_RULES).map(DecisionSpan::text).toList());
    }
    int index = answer.reportedIndex();
    Verdict reported = index < 0 ? null : answer.verdicts().get(index);
    Rule rule = reported == null ? null : reported.rule();
    if (reported != null && rule != null) {
      Descriptor reached = descriptors.get(index); // one for each verdict
      AttributesBuilder attributes = Attributes.builder();
      addTerms(attributes, request, reached, reported, rule);
      span.setAllAttributes(attributes.build());
      if (rule.fairShare() != null) {
        recordTenant(rule, reached.entries());
      }
    }
    addRules(request, answer.verdicts());
    answeredEpochNanos = clock.now();
  }

  /** Adds an event for each rule, in the order of the descriptors; none for a single one. */
  private void addRules(RateLimitRequest request, List<Verdict> verdicts) {
    long matched = verdicts.stream().filter(verdict -> verdict.rule() != null).count();
    int events = 0;
    for (int i = 0; matched > 1 && i < verdicts.size() && events < MAX_RULES; i++) {
      Verdict verdict = verdicts.get(i);
      Rule rule = verdict.rule();
      if (rule != null) {
        addRule(request, request.descriptors().get(i), verdict, rule);
        events++;
      }
    }
  }

  private void addRule(
      RateLimitRequest request, Descriptor descriptor, Verdict verdict, Rule rule) {
    Decision decision = verdict.decision();
    boolean shadowed = decision != null && !decision.admitted() && !verdict.refused();
    AttributesBuilder event = Attributes.builder();
    event.put(RULE, rule.path());
    event.put(DECISION, verdict.refused() ? "over_limit" : shadowed ? "shadow_over_limit" : "ok");
    event.put(DECIDED_IN, verdict.decidedBy().name().toLowerCase(Locale.ROOT));
    if (decision != null) {
      event.put(REMAINING, verdict.remaining());
    }
    addTerms(event, request, descriptor, verdict, rule);
    span.addEvent(RULE_EVENT, event.build());
  }

  /** Adds what a descriptor was counted under, and the terms of the decision. */
  private void addTerms(
      AttributesBuilder attributes,
      RateLimitRequest request,
      Descriptor descriptor,
      Verdict verdict,
      Rule rule) {
    if (contents.values().plain()) {
      attributes.put(DESCRIPTOR, text(descriptor));
    } else {
      attributes.put(COUNTER, contents.values().of(counter(rule, verdict.limit(), descriptor)));
    }
    Decision decision = verdict.decision();
    if (decision == null) {
      return;
    }
    attributes.put(LIMIT, verdict.requestsPerUnit());
    attributes.put(COST, request.costOf(descriptor));
    if (rule.concurrency() == null) {
      attributes.put(RESET, decision.resetAfterMillis());
      attributes.put(TIER, tier(rule));
    }
  }

  private static String text(Descriptor descriptor) {
    return DescriptorText.of(descriptor.entries());
  }

  private static CounterKey counter(Rule rule, @Nullable Limit limit, Descriptor descriptor) {
    String[] entries = descriptor.entries().clone(); // the rule may exchange strings in it
    if (limit == null) { // a concurrency limit, or none
      return CounterKey.of(rule.limiterScope(), rule.chargedEntries(entries));
    }
    FairTenant tenant = limit.tenant(rule, entries);
    return tenant == null ? limit.counter(rule, entries) : tenant.key();
  }

  private String tier(Rule rule) {
    Tier tier = contents.cachedDenyDefault() ? rule.tierWithCachedDenyDefault() : rule.tier();
    return switch (tier) {
      case Tier.Strict _ -> "strict";
      case Tier.CachedDeny _ -> "cached_deny";
      case Tier.Leased _ -> "leased";
      case Tier.Global _ -> "global";
    };
  }

  private void recordTenant(Rule rule, String[] entries) {
    span.setAttribute(TENANT, contents.values().of(rule.tenant(entries)));
    span.setAttribute(TENANT_WEIGHT, rule.tenantWeight(entries).thousandths() / THOUSANDTHS);
  }

  @Override
  public void reachedLimit(Rule rule, String[] entries) {
    FleetFigures figures = contents.limits().of(rule, entries);
    if (figures != null) {
      span.setAttribute(SHARE, (long) figures.share());
      span.setAttribute(FLEET_LIMIT, (long) figures.limit());
      span.setAttribute(STEERING, figures.steering());
    }
  }

  @Override
  public <T extends @Nullable Object> T around(Supplier<T> work) {
    try (Scope _ = span.makeCurrent()) {
      return work.get();
    }
  }

  @Override
  public void failed(String reason) {
    span.setStatus(StatusCode.ERROR, reason);
  }

  @Override
  public void end() {
    long answered = answeredEpochNanos;
    if (answered == 0) {
      span.end();
    } else {
      span.end(answered, TimeUnit.NANOSECONDS);
    }
  }
}
