package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import io.throttlekit.service.server.CallTracing;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The span of one traced request. */
final class DecisionSpan implements CallTracing.CallSpan {
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

  @Override
  public void decided(String domain, String rule, boolean admitted, long remaining, String where) {
    span.setAttribute(DOMAIN, domain);
    span.setAttribute(DECISION, admitted ? "ok" : "over_limit");
    span.setAttribute(DECIDED_IN, where);
    if (!rule.isEmpty()) {
      span.setAttribute(RULE, rule);
      span.setAttribute(REMAINING, remaining);
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
