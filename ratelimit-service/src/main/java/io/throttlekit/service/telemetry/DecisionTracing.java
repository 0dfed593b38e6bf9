package io.throttlekit.service.telemetry;

import io.grpc.Metadata;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.lease.Tier;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.log.PrintableText;
import io.throttlekit.service.server.CallTracing;
import io.throttlekit.share.FleetFigures;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Starts the spans of traced decisions: those of sampled callers, and a fraction of those without a
 * trace. Thread-safe.
 */
public final class DecisionTracing implements CallTracing {
  private static final String SPAN = "ratelimit.decide";

  private final Tracer tracer;
  private final double ratio;
  private final DoubleSupplier random;
  private final SharedLimits limits;

  /** Returns the state of a concurrency limit among replicas. Thread-safe. */
  @FunctionalInterface
  public interface SharedLimits {
    /**
     * Returns the state of the limit that a descriptor reaches; null if none share it.
     *
     * @param entries of the descriptor: key, value, key, value …
     */
    @Nullable FleetFigures of(Rule rule, String[] entries);
  }

  /**
   * Creates an instance that selects requests without a trace by {@code random}.
   *
   * @param random from 0 to below 1
   */
  DecisionTracing(Tracer tracer, double ratio, DoubleSupplier random) {
    this(tracer, ratio, random, (_, _) -> null);
  }

  private DecisionTracing(Tracer tracer, double ratio, DoubleSupplier random, SharedLimits limits) {
    this.limits = limits;
    this.tracer = tracer;
    this.ratio = ratio;
    this.random = random;
  }

  /**
   * Returns an instance that traces to {@code tracer}, whose sampler must keep every span.
   *
   * @param ratio fraction of the requests without a trace to start one for, from 0 to 1
   */
  public static DecisionTracing on(Tracer tracer, double ratio) {
    return new DecisionTracing(tracer, ratio, () -> ThreadLocalRandom.current().nextDouble());
  }

  /** Returns an instance whose spans also have the state of a concurrency limit that decided. */
  public DecisionTracing with(SharedLimits shared) {
    return new DecisionTracing(tracer, ratio, random, shared);
  }

  @Override
  public @Nullable CallSpan start(Metadata headers) {
    TraceParent parent = TraceParent.of(headers);
    return switch (parent.sampled()) {
      case NO -> null;
      case YES -> begin(parent);
      case UNDECIDED -> random.getAsDouble() < ratio ? begin(parent) : null;
    };
  }

  private DecisionSpan begin(TraceParent parent) {
    SpanBuilder span = tracer.spanBuilder(SPAN).setSpanKind(SpanKind.SERVER);
    if (parent.context().isValid()) {
      span.setParent(Context.root().with(Span.wrap(parent.context())));
    } else {
      span.setNoParent();
    }
    return new DecisionSpan(span.startSpan(), limits);
  }

  /** The span of one traced request. */
  record DecisionSpan(Span span, SharedLimits limits) implements CallTracing.CallSpan {
    private static final AttributeKey<String> DOMAIN = AttributeKey.stringKey("ratelimit.domain");
    private static final AttributeKey<String> RULE = AttributeKey.stringKey("ratelimit.rule");
    private static final AttributeKey<String> DECISION =
        AttributeKey.stringKey("ratelimit.decision");
    private static final AttributeKey<Long> REMAINING = AttributeKey.longKey("ratelimit.remaining");
    private static final AttributeKey<String> DECIDED_IN =
        AttributeKey.stringKey("ratelimit.decided_in");
    private static final AttributeKey<Long> SHARE = AttributeKey.longKey("ratelimit.share");
    private static final AttributeKey<Long> FLEET_LIMIT =
        AttributeKey.longKey("ratelimit.fleet_limit");
    private static final AttributeKey<String> STEERING =
        AttributeKey.stringKey("ratelimit.steering_node");
    private static final AttributeKey<String> TENANT = AttributeKey.stringKey("ratelimit.tenant");
    private static final AttributeKey<Double> TENANT_WEIGHT =
        AttributeKey.doubleKey("ratelimit.tenant_weight");
    private static final AttributeKey<Long> LIMIT = AttributeKey.longKey("ratelimit.limit");
    private static final AttributeKey<String> TIER = AttributeKey.stringKey("ratelimit.tier");

    /** The event of each rule, of a request that reached several. */
    private static final String RULE_EVENT = "ratelimit.rule";

    /** Bounds the events of a span: a request may have a thousand descriptors. */
    private static final int MAX_RULES = 32;

    private static final double THOUSANDTHS = 1_000;

    @Override
    public void decided(
        String domain, String rule, boolean admitted, long remaining, String where) {
      span.setAttribute(DOMAIN, domain);
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
      Verdict reported = answer.reported();
      Rule rule = reported == null ? null : reported.rule();
      if (rule != null && rule.concurrency() == null && !rule.unlimited()) {
        span.setAttribute(TIER, tier(rule));
      }
      addRules(answer.verdicts());
      if (reported != null && rule != null && rule.fairShare() != null) {
        int index = answer.verdicts().indexOf(reported); // one for each descriptor
        recordTenant(reported, rule, request.descriptors().get(index).entries());
      }
    }

    /** Adds an event for each rule, in the order of the descriptors; none for a single one. */
    private void addRules(List<Verdict> verdicts) {
      List<Verdict> matched =
          verdicts.stream().filter(verdict -> verdict.rule() != null).limit(MAX_RULES).toList();
      if (matched.size() > 1) {
        matched.forEach(verdict -> addRule(verdict, Objects.requireNonNull(verdict.rule())));
      }
    }

    private void addRule(Verdict verdict, Rule rule) {
      Decision decision = verdict.decision();
      boolean shadowed = decision != null && !decision.admitted() && !verdict.refused();
      AttributesBuilder event = Attributes.builder();
      event.put(RULE, rule.path());
      event.put(DECISION, verdict.refused() ? "over_limit" : shadowed ? "shadow_over_limit" : "ok");
      event.put(DECIDED_IN, verdict.decidedBy().name().toLowerCase(Locale.ROOT));
      if (decision != null) {
        event.put(REMAINING, verdict.remaining());
        if (rule.concurrency() == null) {
          event.put(TIER, tier(rule));
        }
      }
      span.addEvent(RULE_EVENT, event.build());
    }

    private static String tier(Rule rule) {
      return switch (rule.tier()) {
        case Tier.Strict _ -> "strict";
        case Tier.CachedDeny _ -> "cached_deny";
        case Tier.Leased _ -> "leased";
        case Tier.Global _ -> "global";
      };
    }

    private void recordTenant(Verdict reported, Rule rule, String[] entries) {
      span.setAttribute(TENANT, PrintableText.of(rule.tenant(entries)));
      span.setAttribute(TENANT_WEIGHT, rule.tenantWeight(entries).thousandths() / THOUSANDTHS);
      span.setAttribute(LIMIT, reported.requestsPerUnit());
    }

    @Override
    public void reachedLimit(Rule rule, String[] entries) {
      FleetFigures figures = limits.of(rule, entries);
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
      span.end();
    }
  }
}
