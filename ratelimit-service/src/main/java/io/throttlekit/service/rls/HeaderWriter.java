package io.throttlekit.service.rls;

import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.throttlekit.Claim.Role;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.Limit;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.ResponseConfig.RateLimitHeaders;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Adds the response headers that inform clients of their limits. Immutable. */
final class HeaderWriter {
  private final RateLimitHeaders classic;
  private final boolean retryAfter;
  private final boolean structured;

  HeaderWriter(ResponseConfig config) {
    this.classic = config.headers();
    this.retryAfter = config.retryAfter();
    this.structured = config.structuredHeaders();
  }

  /** Returns whether {@link #addTo} may add a header. */
  boolean concerns(Answer answer) {
    return classic.enabled() || structured || (retryAfter && !answer.admitted());
  }

  void addTo(RateLimitResponse.Builder response, Answer answer) {
    if (classic.enabled()) {
      addClassic(response, answer);
    }
    if (structured) {
      addStructured(response, answer);
    }
    if (retryAfter && !answer.admitted()) {
      long millis = answer.retryAfterMillis();
      if (millis != Decision.NEVER) {
        // 0 would invite an immediate retry
        add(response, "Retry-After", Math.max(1, Seconds.ceil(millis)));
      }
    }
  }

  private void addClassic(RateLimitResponse.Builder response, Answer answer) {
    Verdict shown = shown(answer);
    Decision decision = shown == null ? null : shown.decision();
    if (shown != null && decision != null) {
      add(response, classic.limit(), limitOf(shown, decision));
      add(response, classic.remaining(), shown.remaining());
      add(response, classic.reset(), Seconds.untilReset(decision));
    }
  }

  private static long limitOf(Verdict verdict, Decision decision) {
    Limit limit = verdict.limit();
    return limit == null ? decision.limit() : limit.requestsPerUnit();
  }

  /**
   * Returns the descriptor that the three classic headers describe: the last enforced one that
   * refuses, otherwise the first with the least remaining.
   */
  private static @Nullable Verdict shown(Answer answer) {
    Verdict shown = null;
    long least = Long.MAX_VALUE;
    for (Verdict verdict : answer.verdicts()) {
      if (verdict.decision() == null) {
        continue;
      }
      if (verdict.refused() && verdict.role() == Role.ENFORCED) {
        shown = verdict;
        least = 0;
      } else if (shown == null || verdict.remaining() < least) {
        shown = verdict;
        least = verdict.remaining();
      }
    }
    return shown;
  }

  private static void addStructured(RateLimitResponse.Builder response, Answer answer) {
    StructuredList limits = new StructuredList();
    StructuredList policies = new StructuredList();
    tightestOfEachName(answer)
        .forEach((name, verdict) -> {
          Limit limit = verdict.limit();
          Decision decision = verdict.decision();
          if (decision == null) {
            return;
          }
          limits.member(name).parameter('r', verdict.remaining());
          policies.member(name).parameter('q', limitOf(verdict, decision));
          if (limit != null) { // a concurrency limit has no window
            limits.parameter('t', Seconds.untilReset(decision));
            policies.parameter('w', Seconds.ceil(limit.windowMillis()));
          }
        });
    if (!limits.isEmpty()) {
      add(response, "RateLimit", limits.toString());
      add(response, "RateLimit-Policy", policies.toString());
    }
  }

  /**
   * Returns one verdict per policy name, the one with the least remaining: the headers allow each
   * name once, however many descriptors match it.
   */
  private static Map<String, Verdict> tightestOfEachName(Answer answer) {
    Map<String, Verdict> tightest = new LinkedHashMap<>();
    for (Verdict verdict : answer.verdicts()) {
      Rule rule = verdict.rule();
      if (rule != null && verdict.decision() != null) {
        tightest.merge(nameOf(rule), verdict, HeaderWriter::tighter);
      }
    }
    return tightest;
  }

  /**
   * Returns the policy name of a rule; never values of the request, which may be long or secret.
   */
  private static String nameOf(Rule rule) {
    if (!rule.name().isEmpty()) {
      return rule.name();
    }
    return rule.ofRequest() ? "override" : rule.path();
  }

  private static Verdict tighter(Verdict one, Verdict other) {
    return other.remaining() < one.remaining() ? other : one;
  }

  private static void add(RateLimitResponse.Builder response, String name, long value) {
    add(response, name, Long.toString(value));
  }

  private static void add(RateLimitResponse.Builder response, String name, String value) {
    response.addResponseHeadersToAdd(HeaderValue.newBuilder().setKey(name).setValue(value));
  }
}
