package io.throttlekit.service.rls;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.ResponseConfig.RateLimitHeaders;
import io.throttlekit.service.rls.ResponseExtras.Header;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Adds the response headers that inform clients of their limits. Immutable. */
record HeaderWriter(ResponseConfig config) {

  /** Returns whether answers that admit have headers, too. */
  boolean describeLimits() {
    return config.headers().enabled() || config.structuredHeaders();
  }

  void addTo(List<Header> headers, Answer answer) {
    if (config.headers().enabled()) {
      addClassic(headers, answer);
    }
    if (config.structuredHeaders()) {
      addStructured(headers, answer);
    }
    if (config.retryAfter() && !answer.admitted()) {
      long millis = answer.retryAfterMillis();
      if (millis != Decision.NEVER) {
        // 0 would invite an immediate retry
        add(headers, "Retry-After", Math.max(1, Verdict.secondsCeil(millis)));
      }
    }
  }

  private void addClassic(List<Header> headers, Answer answer) {
    Verdict shown = answer.reportedByHeaders();
    if (shown != null) {
      RateLimitHeaders names = config.headers();
      add(headers, names.limit(), shown.requestsPerUnit());
      add(headers, names.remaining(), shown.remaining());
      add(headers, names.reset(), shown.secondsUntilReset());
    }
  }

  private static void addStructured(List<Header> headers, Answer answer) {
    StructuredList limits = new StructuredList();
    StructuredList policies = new StructuredList();
    tightestOfEachName(answer)
        .forEach((name, verdict) -> {
          Limit limit = verdict.limit();
          limits.member(name).parameter('r', verdict.remaining());
          policies.member(name).parameter('q', verdict.requestsPerUnit());
          if (limit != null) { // a concurrency limit has no window
            limits.parameter('t', verdict.secondsUntilReset());
            policies.parameter('w', Verdict.secondsCeil(limit.windowMillis()));
          }
        });
    if (!limits.isEmpty()) {
      headers.add(new Header("RateLimit", limits.toString()));
      headers.add(new Header("RateLimit-Policy", policies.toString()));
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

  private static void add(List<Header> headers, String name, long value) {
    headers.add(new Header(name, Long.toString(value)));
  }
}
