package io.throttlekit.descriptors;

import io.throttlekit.tier.Tier;
import org.jspecify.annotations.Nullable;

/**
 * How the limits of a rule are shared.
 *
 * @param tier absent where none is named; leased by the window if the scope is global
 */
record Sharing(Scope scope, @Nullable Tier tier) {
  /** Of a rule that says nothing of it. */
  static final Sharing DEFAULT = new Sharing(Scope.REGION, null);

  /** Of a rule that counts nothing, so that there is nothing to share. */
  static final Sharing NOTHING = new Sharing(Scope.REGION, new Tier.Strict());

  Sharing {
    boolean coupled = tier instanceof Tier.Leased leased && leased.windowCoupled();
    if (scope == Scope.GLOBAL && !coupled) {
      throw new IllegalArgumentException("what regions share is leased by the window");
    }
  }
}
