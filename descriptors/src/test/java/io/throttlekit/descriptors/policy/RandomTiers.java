package io.throttlekit.descriptors.policy;

import io.throttlekit.DataLoss;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Generates the sharing of the rules of {@link RandomPolicies} by a fleet, and their behaviour in
 * an outage.
 */
public record RandomTiers(RandomGenerator random) {
  private static final List<OnOutage> OUTAGES =
      List.of(OnOutage.ERROR, OnOutage.DENY, OnOutage.ALLOW, OnOutage.LOCAL);

  /** Returns any scope and tier that rules with these limits can have. */
  public Sharing sharing(List<LimitSpec> limits, boolean overdraft) {
    Tier tier = tier(limits, overdraft);
    boolean coupled = tier instanceof Tier.Leased leased && leased.windowCoupled();
    return Sharing.of(coupled && random.nextBoolean() ? Scope.GLOBAL : Scope.REGION, tier);
  }

  private @Nullable Tier tier(List<LimitSpec> limits, boolean overdraft) {
    boolean fixed = limits.stream().allMatch(l -> l.algorithm() instanceof FixedWindow);
    return switch (random.nextInt(limits.isEmpty() ? 1 : overdraft ? 2 : fixed ? 5 : 3)) {
      case 0 -> null;
      case 2 -> new Tier.CachedDeny();
      case 3, 4 -> leased();
      default -> new Tier.Strict();
    };
  }

  public OnOutage onOutage(Scope scope) {
    if (scope == Scope.GLOBAL && random.nextInt(4) == 0) {
      return OnOutage.REGIONAL_ONLY;
    }
    return random.nextInt(3) > 0 ? OnOutage.ERROR : OUTAGES.get(random.nextInt(OUTAGES.size()));
  }

  public DataLoss onDataLoss() {
    return random.nextInt(4) == 0 ? DataLoss.DENY : DataLoss.REFILL;
  }

  private Tier leased() {
    long units = random.nextLong(2, 202);
    LeaseSize size =
        switch (random.nextInt(4)) {
          case 0 -> new LeaseSize.Fixed(units);
          case 1 -> new LeaseSize.Predictive();
          default -> new LeaseSize.Adaptive();
        };
    long lowWater = random.nextInt(3) == 0 ? 1 + random.nextLong(units - 1) : 0;
    long idle =
        switch (random.nextInt(4)) {
          case 0 -> 0;
          case 1 -> 1 + random.nextInt(100_000);
          default -> 30_000;
        };
    return new Tier.Leased(size, random.nextInt(4) > 0, lowWater, idle);
  }
}
