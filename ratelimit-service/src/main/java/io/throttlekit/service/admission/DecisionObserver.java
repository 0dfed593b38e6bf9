package io.throttlekit.service.admission;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.Rule;

/**
 * Hears of every decision, on the thread that took it. Implementations are thread-safe and quick.
 */
public interface DecisionObserver {

  /**
   * A rule was charged or looked at.
   *
   * @param entries of the descriptor: key, value, key, value …; not to be changed
   * @param hits the cost: 0 for a look, below 0 for a refund
   * @param decision of the limit that tells most
   * @param shadowed whether the rule is in shadow mode
   */
  void decided(Rule rule, String[] entries, long hits, Decision decision, boolean shadowed);

  /** A request named a domain without policies. */
  void domainNotFound(String domain);

  /** A request would have been refused, had the service not been in shadow mode. */
  void globalShadow();
}
