package io.throttlekit.descriptors;

import io.throttlekit.tier.Tier;
import org.jspecify.annotations.Nullable;

/**
 * Sharing of a rule's limits.
 *
 * @param tier absent where none is named; leased by the window if the scope is global
 */
record Sharing(Scope scope, @Nullable Tier tier) {
  /** Sharing of a rule that names neither scope nor tier. */
  static final Sharing DEFAULT = new Sharing(Scope.REGION, null);

  /** Sharing of a rule that counts nothing. */
  static final Sharing NOTHING = new Sharing(Scope.REGION, new Tier.Strict());

  Sharing {
    boolean coupled = tier instanceof Tier.Leased leased && leased.windowCoupled();
    if (scope == Scope.GLOBAL && !coupled) {
      throw new IllegalArgumentException("what regions share is leased by the window");
    }
  }
}
