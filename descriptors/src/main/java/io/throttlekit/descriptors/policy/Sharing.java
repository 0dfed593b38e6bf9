package io.throttlekit.descriptors.policy;

import io.throttlekit.DataLoss;
import io.throttlekit.lease.Tier;
import org.jspecify.annotations.Nullable;

/**
 * Sharing of a rule's limits, and what happens without their counters.
 *
 * @param tier absent where none is named; leased by the window if the scope is global
 * @param overdraft whether a cost beyond the remaining units is charged in full; only if strict
 * @param onOutage answer when counters cannot be reached; regional only if the scope is global
 * @param onDataLoss treatment of limits whose counters are lost
 */
public record Sharing(
    Scope scope, @Nullable Tier tier, boolean overdraft, OnOutage onOutage, DataLoss onDataLoss) {
  /** Sharing of a rule that names none of it. */
  public static final Sharing DEFAULT = of(Scope.REGION, null);

  /** Sharing of a rule that counts nothing. */
  public static final Sharing NOTHING = of(Scope.REGION, new Tier.Strict());

  /** Checks that the parts agree. */
  public Sharing {
    boolean coupled = tier instanceof Tier.Leased leased && leased.windowCoupled();
    if (scope == Scope.GLOBAL && !coupled) {
      throw new IllegalArgumentException("a global limit is leased by the window");
    }
    if (overdraft && tier != null && !(tier instanceof Tier.Strict)) {
      throw new IllegalArgumentException("only a strict rule can be overdrawn");
    }
    if (onOutage == OnOutage.REGIONAL_ONLY && scope != Scope.GLOBAL) {
      throw new IllegalArgumentException("only a global rule can continue in its region");
    }
  }

  /** Returns the sharing without overdraft, with the defaults for outages and lost counters. */
  public static Sharing of(Scope scope, @Nullable Tier tier) {
    return new Sharing(scope, tier, false, OnOutage.ERROR, DataLoss.REFILL);
  }
}
