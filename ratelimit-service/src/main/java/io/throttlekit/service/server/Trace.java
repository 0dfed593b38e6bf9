package io.throttlekit.service.server;

import io.throttlekit.descriptors.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.telemetry.DecisionSpan;
import io.throttlekit.tier.DecidedBy;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Writes an answer to its span. */
final class Trace {

  private Trace() {}

  static void decided(DecisionSpan span, String domain, Answer answer) {
    Verdict telling = telling(answer);
    Rule rule = telling == null ? null : telling.rule();
    span.decided(
        domain,
        rule == null ? "" : rule.path(),
        answer.admitted(),
        telling == null ? 0 : telling.remaining(),
        (telling == null ? DecidedBy.NOBODY : telling.decidedBy()).name().toLowerCase(Locale.ROOT));
  }

  /** Returns the first verdict that refuses, else the first with the smallest remaining. */
  private static @Nullable Verdict telling(Answer answer) {
    Verdict telling = null;
    for (Verdict verdict : answer.verdicts()) {
      if (verdict.decision() == null) { // undecided, so it has no remaining
        continue;
      }
      if (verdict.refused()) {
        return verdict;
      }
      if (telling == null || verdict.remaining() < telling.remaining()) {
        telling = verdict;
      }
    }
    return telling;
  }
}
