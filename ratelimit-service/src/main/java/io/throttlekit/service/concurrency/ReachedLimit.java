package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.tenants.PermitTenant;
import org.jspecify.annotations.Nullable;

/**
 * A concurrency limit that a request reaches.
 *
 * @param rule the rule with the limit
 * @param terms of the rule
 * @param gate of the terms
 * @param entries of the descriptor that reached it: key, value, key, value …
 * @param looks whether to check for room only, without a permit
 * @param refuses whether the request is refused if there is no room; if not, it never waits
 */
public record ReachedLimit(
    Rule rule,
    ConcurrencyRule terms,
    ConcurrencyRule.AtService gate,
    @SuppressWarnings("ArrayRecordComponent") String[] entries, // never compared
    boolean looks,
    boolean refuses) {

  /** Returns the tenant of the request, or null if none share the limit. */
  @Nullable PermitTenant tenant() {
    if (rule.fairShare() == null) {
      return null;
    }
    return new PermitTenant(rule.tenant(entries), rule.tenantWeight(entries).inThousandths());
  }

  /** Returns the value of the first entry with this key, or null if there is none. */
  @Nullable String value(@Nullable String key) {
    if (key != null) {
      for (int i = 0; i + 1 < entries.length; i += 2) {
        if (entries[i].equals(key)) {
          return entries[i + 1];
        }
      }
    }
    return null;
  }
}
