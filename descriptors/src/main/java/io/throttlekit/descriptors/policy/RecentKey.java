package io.throttlekit.descriptors.policy;

import io.throttlekit.CounterKey;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The key of the counter that was charged last: tenants that share a limit charge the same one, so
 * most requests need not hash it again. Thread-safe: a lost race only computes a key again.
 */
final class RecentKey {
  private @Nullable Known known;

  private static final class Known {
    final String scope;
    final String[] entries;
    final CounterKey key;

    Known(String scope, String[] entries) {
      this.scope = scope;
      this.entries = entries;
      this.key = CounterKey.of(scope, entries);
    }
  }

  /**
   * Returns the key of these entries.
   *
   * @param entries not changed afterwards
   */
  CounterKey of(String scope, String[] entries) {
    Known last = known;
    if (last == null || !last.scope.equals(scope) || !Arrays.equals(last.entries, entries)) {
      last = new Known(scope, entries);
      known = last;
    }
    return last.key;
  }
}
