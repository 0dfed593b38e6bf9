package io.throttlekit.service.telemetry.refusals;

import io.throttlekit.Decision;
import io.throttlekit.Scheduler;
import io.throttlekit.descriptors.policy.Rule;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of rules that never charge the cost of a stream: Envoy sends it when the stream ends, too
 * late to refuse anything, and without {@code overdraft} a cost above what is left is not charged.
 *
 * <p>The signs are a refused cost while something is left, and then an admitted look at the same
 * counter, {@link #ENOUGH} times. One line is logged for each rule, until {@link #MAX_RULES} others
 * have shown the signs, or a reload. Thread-safe.
 */
final class UnchargedCosts {
  /** Refused costs, each followed by an admitted look, before the warning. */
  static final int ENOUGH = 3;

  /** Rules that are observed at a time. */
  static final int MAX_RULES = 256;

  private static final Logger LOG = LoggerFactory.getLogger(UnchargedCosts.class);

  private final Scheduler timer;
  private final Map<Rule, Suspect> suspects = new ConcurrentHashMap<>();

  /**
   * @param timer writes log lines
   */
  UnchargedCosts(Scheduler timer) {
    this.timer = timer;
  }

  /** A rule that has refused a cost above what was left. */
  private static final class Suspect {
    private int refused;
    private boolean awaitsLook;
    private int times;

    synchronized void refused(int counter) {
      refused = counter;
      awaitsLook = true;
    }

    /** Returns whether this look is the last sign. */
    synchronized boolean looked(int counter) {
      if (!awaitsLook || refused != counter) {
        return false;
      }
      awaitsLook = false;
      return ++times == ENOUGH;
    }
  }

  /** Observes a decision. */
  void decided(Rule rule, String[] entries, long hits, Decision decision) {
    if (hits == 0) {
      Suspect suspect = decision.admitted() && !suspects.isEmpty() ? suspects.get(rule) : null;
      if (suspect != null && suspect.looked(counter(rule, entries))) {
        timer.runAfter(1, () -> warn(rule));
      }
    } else if (hits > 1 && !decision.admitted() && decision.remaining() > 0 && maySuspect(rule)) {
      if (suspects.size() >= MAX_RULES && !suspects.containsKey(rule)) {
        suspects.clear(); // rules of earlier policies remain here
      }
      suspects.computeIfAbsent(rule, _ -> new Suspect()).refused(counter(rule, entries));
    }
  }

  private static boolean maySuspect(Rule rule) {
    return !rule.overdraft() && rule.concurrency() == null && !rule.ofRequest();
  }

  private static int counter(Rule rule, String[] entries) {
    return Arrays.hashCode(rule.chargedEntries(entries));
  }

  private static void warn(Rule rule) {
    LOG.warn(
        "the rule at {} refuses costs above what is left and admits the next request: costs that"
            + " Envoy sends at the end of streams are then never charged, unless the rule has"
            + " overdraft: true",
        rule.location());
  }
}
