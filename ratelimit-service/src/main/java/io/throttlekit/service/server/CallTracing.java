package io.throttlekit.service.server;

import io.grpc.Metadata;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.tier.DecidedBy;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Selects the calls to trace. Implementations are thread-safe and do not block. */
public interface CallTracing {

  /** Returns the span of a call, or null if it is not traced. Malformed headers count as absent. */
  @Nullable CallSpan start(Metadata headers);

  /** The span of one call. Thread-safe; calls after {@link #end} are ignored. */
  interface CallSpan {

    /** Records the decision that the answer to a request reports. */
    default void decided(RateLimitRequest request, Answer answer) {
      Verdict reported = answer.reported();
      Rule rule = reported == null ? null : reported.rule();
      DecidedBy by = reported == null ? DecidedBy.NONE : reported.decidedBy();
      decided(
          request.domain(),
          rule == null ? "" : rule.path(),
          answer.admitted(),
          reported == null ? 0 : reported.remaining(),
          by.name().toLowerCase(Locale.ROOT));
      if (rule != null && rule.concurrency() != null) {
        int index = answer.verdicts().indexOf(reported); // one for each descriptor
        reachedLimit(rule, request.descriptors().get(index).entries());
      }
    }

    /**
     * Records the state of the concurrency limit that decided.
     *
     * @param entries of the descriptor that reached it: key, value, key, value …
     */
    default void reachedLimit(Rule rule, String[] entries) {}

    /**
     * Records the decision.
     *
     * @param rule path of the rule that decided; empty if no rule matched
     * @param admitted whether the request may pass
     * @param remaining units that the rule has left
     * @param where what decided, such as {@code memory}
     */
    void decided(String domain, String rule, boolean admitted, long remaining, String where);

    /** Runs {@code work}; spans that start in it become children of this one. */
    <T extends @Nullable Object> T around(Supplier<T> work);

    /** Records the reason why there was no decision. */
    void failed(String reason);

    /** Ends the span. */
    void end();
  }
}
