package io.throttlekit.descriptors.policy;

import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The rules of {@link RandomPolicies}. */
public sealed interface RandomRules {
  List<LimitUnit> UNITS = List.of(LimitUnit.values());

  /** Returns the rule number {@code number} of a policy. */
  RuleSpec rule(SourceLocation location, int number);

  /**
   * Fixed windows, named {@code rule-0}, {@code rule-1} …, with their number as requests per unit.
   */
  record Plain(RandomGenerator random) implements RandomRules {
    @Override
    public RuleSpec rule(SourceLocation location, int number) {
      boolean unlimited = random.nextInt(10) == 0;
      LimitUnit unit = UNITS.get(random.nextInt(UNITS.size()));
      LimitSpec limit =
          new LimitSpec(new FixedWindow(number, unit.millis()), number, unit, unit.millis());
      return new RuleSpec(
          location,
          unlimited ? List.of() : List.of(limit),
          "rule-" + number,
          List.of(),
          random.nextInt(10) == 0,
          false,
          Sharing.DEFAULT,
          null,
          null,
          null,
          null);
    }
  }

  /**
   * Rules with all features: every algorithm, several limits, few names that many rules have and
   * replace, all modes, tiers and answers to an outage. Limits are small, so that they are reached.
   */
  record OfEveryKind(RandomGenerator random) implements RandomRules {
    private static final List<String> NAMES = List.of("", "", "n0", "n1", "n2", "n 3");
    static final String TENANT_ENTRY = "org";
    static final String WEIGHT_ENTRY = "plan";
    static final List<String> TENANTS = List.of("acme", "initech", "umbrella", "");
    static final List<String> PLANS = List.of("gold", "silver");
    private static final long[] WINDOWS = {1, 250, 1_000, 10_000, 60_000, 90_000, 86_400_000};

    @Override
    public RuleSpec rule(SourceLocation location, int number) {
      boolean unlimited = random.nextInt(10) == 0;
      String name = NAMES.get(random.nextInt(NAMES.size()));
      List<LimitSpec> limits = unlimited ? List.of() : limits();
      boolean overdraft = !unlimited && random.nextInt(6) == 0;
      RandomTiers tiers = new RandomTiers(random);
      Sharing tier = tiers.sharing(limits, overdraft);
      List<RuleSpec.Replacement> replaces = replaces(location, name);
      boolean shadow = random.nextInt(8) == 0;
      boolean quota = random.nextInt(4) == 0;
      OnOutage onOutage = unlimited ? OnOutage.ERROR : tiers.onOutage(tier.scope());
      DataLoss onDataLoss = unlimited ? DataLoss.REFILL : tiers.onDataLoss();
      Sharing sharing = new Sharing(tier.scope(), tier.tier(), overdraft, onOutage, onDataLoss);
      FairShare share = fairShare(limits, tier.tier());
      return new RuleSpec(
          location, limits, name, replaces, shadow, quota, sharing, null, null, null, share);
    }

    private @Nullable FairShare fairShare(List<LimitSpec> limits, @Nullable Tier tier) {
      boolean carries = tier instanceof Tier.Leased leased && !leased.windowCoupled();
      boolean fixed = limits.stream().allMatch(limit -> limit.algorithm() instanceof FixedWindow);
      if (limits.isEmpty() || carries || !fixed || random.nextInt(3) == 0) {
        return null;
      }
      boolean byPlan = random.nextBoolean();
      Map<String, FairShare.Weight> weights = new LinkedHashMap<>();
      for (String each : byPlan ? PLANS : TENANTS.subList(0, 2)) {
        if (byPlan || random.nextBoolean()) {
          weights.put(each, new FairShare.Weight(500L * (1 + random.nextInt(6)), true));
        }
      }
      return new FairShare(
          TENANT_ENTRY,
          byPlan ? WEIGHT_ENTRY : null,
          weights,
          new FairShare.Weight(1_000, false),
          random.nextBoolean() ? 100_000 : 1_000,
          random.nextInt(5) * FairShare.ALL / 4);
    }

    private List<RuleSpec.Replacement> replaces(SourceLocation location, String name) {
      String replaced = NAMES.get(random.nextInt(NAMES.size()));
      boolean some = random.nextInt(5) == 0 && !replaced.isEmpty() && !replaced.equals(name);
      return some ? List.of(new RuleSpec.Replacement(location, replaced)) : List.of();
    }

    private List<LimitSpec> limits() {
      List<LimitSpec> limits = new ArrayList<>();
      Set<String> counters = new HashSet<>();
      int size = random.nextInt(4) == 0 ? 2 + random.nextInt(2) : 1;
      while (limits.size() < size) {
        LimitSpec limit = limit();
        if (counters.add(limit.algorithm().id() + limit.windowMillis())) {
          limits.add(limit);
        }
      }
      return limits;
    }

    private LimitSpec limit() {
      long requests =
          switch (random.nextInt(16)) {
            case 0 -> 0;
            case 1 -> 1_000;
            case 2 -> 0xFFFF_FFFFL;
            default -> 1 + random.nextInt(6);
          };
      LimitUnit unit = null;
      long window = WINDOWS[random.nextInt(WINDOWS.length)];
      if (random.nextBoolean()) {
        window = UNITS.get(random.nextInt(UNITS.size())).millis();
      }
      for (LimitUnit candidate : LimitUnit.values()) {
        unit = candidate.millis() == window ? candidate : unit;
      }
      return new LimitSpec(algorithm(requests, window), requests, unit, window);
    }

    private RateAlgorithm<?> algorithm(long requests, long window) {
      boolean small = requests <= 6; // large ones are beyond some windows, and take memory
      FixedWindow fixed = new FixedWindow(requests, window);
      long burst = requests == 0 ? 0 : 1 + random.nextInt(8);
      return switch (random.nextInt(8)) {
        case 0 -> small ? new SlidingWindow(requests, window) : fixed;
        case 1 -> small ? new SlidingLog(requests, window) : fixed;
        case 2 -> small ? new Gcra(requests, window, burst) : fixed;
        case 3 -> small ? new TokenBucket(requests, window, burst) : fixed;
        default -> fixed;
      };
    }
  }

  /** Returns the burst that a policy states for an algorithm that has one. */
  static @Nullable Long burst(RateAlgorithm<?> algorithm) {
    return algorithm instanceof Gcra || algorithm instanceof TokenBucket ? algorithm.limit() : null;
  }
}
