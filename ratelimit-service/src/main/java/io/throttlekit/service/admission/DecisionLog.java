package io.throttlekit.service.admission;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.log.DescriptorText;
import io.throttlekit.tier.DecidedBy;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;

/**
 * One debug line per decision, which shows why a request was refused. It costs far more than the
 * decision, so the level is checked first. Thread-safe.
 */
final class DecisionLog {

  /** Keeps a line readable whatever a client sends. */
  private static final int MAX_SHOWN = 60;

  private DecisionLog() {}

  static void log(Logger log, RateLimitRequest request, Answer answer) {
    StringBuilder line = new StringBuilder(shown(request.domain()));
    line.append(answer.admitted() ? ": admitted" : ": refused");
    if (answer.permit() != null) {
      line.append(", lease ").append(answer.permit().id());
    }
    List<Verdict> verdicts = answer.verdicts();
    for (int i = 0; i < verdicts.size(); i++) {
      line.append("; ");
      append(line, request.descriptors().get(i).entries());
      line.append(": ");
      append(line, verdicts.get(i), request.costOf(request.descriptors().get(i)));
      appendTenant(line, request, request.descriptors().get(i), verdicts.get(i));
    }
    log.debug("{}", line);
  }

  private static void append(StringBuilder line, String[] entries) {
    for (int i = 0; i < entries.length; i += 2) {
      line.append(i == 0 ? "" : ",").append(shown(entries[i]));
      line.append('=').append(shown(entries[i + 1]));
    }
  }

  private static void append(StringBuilder line, Verdict verdict, long cost) {
    Rule rule = verdict.rule();
    if (rule == null) {
      line.append("no rule");
      return;
    }
    line.append("rule ").append(rule.path());
    Decision decision = verdict.decision();
    if (decision == null) {
      line.append(" without a limit");
      return;
    }
    if (rule.concurrency() != null) {
      line.append(verdict.refused() ? " at its limit, room for " : ", room for ");
      line.append(verdict.remaining()).append(" below ").append(decision.limit());
      return;
    }
    line.append(verdict.refused() ? " over its limit, " : ", ");
    line.append(verdict.remaining()).append(" of ").append(decision.limit()).append(" left");
    if (verdict.refused() && cost != 1) {
      line.append(" for a cost of ").append(cost);
    }
    line.append(" (").append(verdict.decidedBy().name().toLowerCase(Locale.ROOT)).append(')');
  }

  /** Names the tenant of a divided limit, and why it was refused. */
  private static void appendTenant(
      StringBuilder line, RateLimitRequest request, Descriptor descriptor, Verdict verdict) {
    Rule rule = verdict.rule();
    Decision decision = verdict.decision();
    if (rule == null || decision == null || rule.fairShare() == null) {
      return;
    }
    String[] entries = descriptor.entries();
    line.append(", tenant ").append(shown(rule.tenant(entries)));
    line.append(" of weight ").append(rule.tenantWeight(entries));
    boolean byThePool =
        verdict.decidedBy() != DecidedBy.OUTAGE && verdict.decidedBy() != DecidedBy.NONE;
    if (!decision.admitted() && rule.concurrency() == null && byThePool) {
      long left = decision.remaining();
      line.append(
          left <= 0
              ? ": its guarantee is used, and the rest is used or reserved for other tenants"
              : left < request.costOf(descriptor)
                  ? ": less is left of its guarantee, and the rest is used or reserved for others"
                  : ": other tenants had used its part before its request");
    }
  }

  /**
   * Returns a text chosen by a client, cut to {@link #MAX_SHOWN} characters and without line
   * breaks, so that it cannot forge a log line.
   */
  private static String shown(String text) {
    return DescriptorText.shown(text, MAX_SHOWN);
  }
}
