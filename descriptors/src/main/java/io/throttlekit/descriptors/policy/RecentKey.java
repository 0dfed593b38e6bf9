package io.throttlekit.descriptors.policy;

import io.throttlekit.CounterKey;
import org.jspecify.annotations.Nullable;

/**
 * The key of the counter that was charged last: tenants that share a limit charge the same one, so
 * most requests need not hash it again. Thread-safe: a lost race only computes a key again.
 */
final class RecentKey {
  private @Nullable Known known;

  private static final class Known {
    final String[] charged;
    final CounterKey key;

    Known(String scope, String[] charged) {
      this.charged = charged;
      this.key = CounterKey.of(scope, charged);
    }

    /** Returns whether these entries, and others that follow, are charged under this key. */
    boolean isOf(String[] entries) {
      for (int i = 0; i < charged.length; i++) {
        if (!charged[i].equals(entries[i])) {
          return false;
        }
      }
      return true;
    }
  }

  /**
   * Returns the key of what a rule charges.
   *
   * @param scope of one of the rule's limits
   * @param rule always the same one
   * @param entries of a request that it matched, its tenant among them
   */
  CounterKey of(String scope, Rule rule, String[] entries) {
    Known last = known;
    if (last == null || !last.isOf(entries)) {
      String[] charged = rule.chargedEntries(entries); // with patterns in place of values
      if (last == null || !last.isOf(charged)) {
        last = new Known(scope, charged);
        known = last;
      }
    }
    return last.key.scope().equals(scope) ? last.key : last.key.inScope(scope);
  }
}
