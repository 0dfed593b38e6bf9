package io.throttlekit.service.telemetry.refusals;

import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.log.PrintableText;

/**
 * What a refused request was counted under, as texts of bounded length.
 *
 * @param rule path of the rule
 * @param descriptor entries that name the counter, as {@code throttlekit explain} takes them; with
 *     {@code fair_share} also that of the tenant
 */
record RefusedKey(String domain, String rule, String descriptor) {
  /** Length at which each text of a request is cut, in chars. */
  static final int MAX_SHOWN = 60;

  /** Length at which the path of a rule is cut, which a control plane may choose. */
  static final int MAX_RULE = 300;

  /** Entries that are shown of a descriptor. */
  private static final int MAX_ENTRIES = 8;

  /**
   * Returns the key of a refusal.
   *
   * @param entries of the descriptor: key, value, key, value …
   */
  static RefusedKey of(Rule rule, String[] entries) {
    String[] own = entries.clone(); // the rule may exchange strings in it
    String[] counted =
        rule.fairShare() == null ? rule.chargedEntries(own) : rule.tenantEntries(own);
    StringBuilder descriptor = new StringBuilder();
    for (int i = 0; i < counted.length; i += 2) {
      if (i == 2 * MAX_ENTRIES) {
        descriptor.append(",…");
        break;
      }
      descriptor
          .append(i == 0 ? "" : ",")
          .append(shown(counted[i], MAX_SHOWN))
          .append('=')
          .append(shown(counted[i + 1], MAX_SHOWN).replace(",", "\\,"));
    }
    return new RefusedKey(
        shown(rule.domain(), MAX_SHOWN), shown(rule.path(), MAX_RULE), descriptor.toString());
  }

  private static String shown(String text, int max) {
    return text.length() <= max
        ? PrintableText.of(text)
        : PrintableText.of(text.substring(0, max)) + "…";
  }
}
