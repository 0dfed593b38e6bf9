package io.throttlekit.service.telemetry.refusals;

import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.log.DescriptorText;

/**
 * What a refused request was counted under, as texts of bounded length.
 *
 * @param rule path of the rule
 * @param descriptor entries that name the counter, as {@code throttlekit explain} takes them; with
 *     {@code fair_share} also that of the tenant
 */
record RefusedKey(String domain, String rule, String descriptor) {
  /** Length at which the path of a rule is cut, which a control plane may choose. */
  static final int MAX_RULE = 300;

  /**
   * Returns the key of a refusal.
   *
   * @param entries of the descriptor: key, value, key, value …
   */
  static RefusedKey of(Rule rule, String[] entries) {
    String[] own = entries.clone(); // the rule may exchange strings in it
    String[] counted =
        rule.fairShare() == null ? rule.chargedEntries(own) : rule.tenantEntries(own);
    return new RefusedKey(
        DescriptorText.shown(rule.domain(), DescriptorText.MAX_SHOWN),
        DescriptorText.shown(rule.path(), MAX_RULE),
        DescriptorText.of(counted));
  }
}
