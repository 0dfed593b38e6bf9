package io.throttlekit.service.server;

import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.server.CallTracing.CallSpan;
import io.throttlekit.tier.DecidedBy;
import java.util.Locale;

/** Writes an answer to its span. */
final class Trace {
  private Trace() {}

  static void decided(CallSpan span, String domain, Answer answer) {
    Verdict reported = answer.reported();
    Rule rule = reported == null ? null : reported.rule();
    DecidedBy by = reported == null ? DecidedBy.NONE : reported.decidedBy();
    span.decided(
        domain,
        rule == null ? "" : rule.path(),
        answer.admitted(),
        reported == null ? 0 : reported.remaining(),
        by.name().toLowerCase(Locale.ROOT));
  }
}
