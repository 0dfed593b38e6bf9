package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The span of one traced request. Thread-safe; calls after {@link #end} are ignored. */
public final class DecisionSpan {
  private static final AttributeKey<String> DOMAIN = AttributeKey.stringKey("ratelimit.domain");
  private static final AttributeKey<String> RULE = AttributeKey.stringKey("ratelimit.rule");
  private static final AttributeKey<String> DECISION = AttributeKey.stringKey("ratelimit.decision");
  private static final AttributeKey<Long> REMAINING = AttributeKey.longKey("ratelimit.remaining");
  private static final AttributeKey<String> DECIDED_IN =
      AttributeKey.stringKey("ratelimit.decided_in");

  private final Span span;

  DecisionSpan(Span span) {
    this.span = span;
  }

  /**
   * Records the decision.
   *
   * @param rule path of the rule that decided; empty if no rule matched
   * @param admitted whether the request may pass
   * @param remaining units that the rule has left
   * @param where what decided, such as {@code memory}
   */
  public void decided(String domain, String rule, boolean admitted, long remaining, String where) {
    span.setAttribute(DOMAIN, domain);
    span.setAttribute(DECISION, admitted ? "ok" : "over_limit");
    span.setAttribute(DECIDED_IN, where);
    if (!rule.isEmpty()) {
      span.setAttribute(RULE, rule);
      span.setAttribute(REMAINING, remaining);
    }
  }

  /** Runs {@code work}; spans that start in it become children of this one. */
  public <T extends @Nullable Object> T around(Supplier<T> work) {
    try (Scope _ = span.makeCurrent()) {
      return work.get();
    }
  }

  /** Records the reason why there was no decision. */
  public void failed(String reason) {
    span.setStatus(StatusCode.ERROR, reason);
  }

  /** Ends the span. */
  public void end() {
    span.end();
  }
}
