package io.throttlekit.service.admission;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Rule;

/** Receives the decisions of an admission. Implementations are thread-safe and do not block. */
public interface DecisionListener {

  /**
   * Called when a descriptor was decided.
   *
   * @param entries of the descriptor: key, value, key, value …
   * @param hits the cost; 0 for a peek, below 0 for a refund
   * @param decision of the limit that the answer reports
   * @param shadow whether a refusal has no effect because the rule is in shadow mode
   */
  void decided(Rule rule, String[] entries, long hits, Decision decision, boolean shadow);

  /**
   * Called after {@link #decided} when a cached refusal decided, without a call of the store.
   *
   * @param hits the cost, from 1
   */
  void refusedFromCache(Rule rule, String[] entries, long hits);

  /**
   * Called when a request named a domain without policies.
   *
   * @param descriptors the number of descriptors of the request
   */
  void domainNotFound(String domain, int descriptors);

  /** Called when a refusal was answered with OK because the whole service is in shadow mode. */
  void globalShadow();
}
