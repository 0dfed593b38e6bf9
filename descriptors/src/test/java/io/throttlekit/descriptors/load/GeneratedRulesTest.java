package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.OnOutage;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.RandomPolicies;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.policy.Scope;
import io.throttlekit.descriptors.source.Severity;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.RateAlgorithm;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that generated rules equal those read from their YAML. */
class GeneratedRulesTest {
  private static final int POLICIES = 500;

  private final Map<String, Integer> reached = new TreeMap<>();

  /** Properties of a rule, without its place. */
  private record RuleProperties(
      String name,
      List<RateAlgorithm<?>> algorithms,
      boolean shadow,
      boolean quota,
      boolean overdraft,
      Scope scope,
      Tier tier,
      OnOutage onOutage,
      DataLoss onDataLoss,
      List<String> replaces,
      @Nullable FairShare fairShare) {

    static RuleProperties by(Rule rule) {
      List<RateAlgorithm<?>> algorithms =
          rule.limits().stream().<RateAlgorithm<?>>map(Limit::algorithm).toList();
      return new RuleProperties(
          rule.name(),
          algorithms,
          rule.shadow(),
          rule.quota(),
          rule.overdraft(),
          rule.scope(),
          rule.tier(),
          rule.onOutage(),
          rule.onDataLoss(),
          rule.replaces(),
          rule.fairShare());
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 20_261_122})
  void areReadAsGenerated(long seed) {
    RandomPolicies policies = RandomPolicies.ofEveryKind(new SplittableRandom(seed));
    for (int i = 0; i < POLICIES; i++) {
      RandomPolicies.Policy policy = policies.policy("shop");
      List<Rule> meant = PolicyBook.of(Map.of("shop", policy.descriptors())).rules();
      LoadResult read = Loading.merged(policy.yaml());
      assertThat(read.problems())
          .as("seed %s policy %s:%n%s", seed, i, policy)
          .noneMatch(problem -> problem.severity() == Severity.ERROR);
      assertThat(Objects.requireNonNull(read.book()).rules().stream().map(RuleProperties::by))
          .as("seed %s policy %s:%n%s", seed, i, policy)
          .containsExactlyElementsOf(meant.stream().map(RuleProperties::by).toList());
      meant.forEach(this::note);
    }
    assertThat(reached)
        .as("kinds of rules")
        .containsOnlyKeys(
            "Strict",
            "CachedDeny",
            "Adaptive",
            "Predictive",
            "Fixed",
            "carried over",
            "low water",
            "leased list",
            "ERROR",
            "DENY",
            "ALLOW",
            "LOCAL",
            "REGIONAL_ONLY",
            "GLOBAL",
            "REGION",
            "data loss DENY",
            "data loss REFILL",
            "divided by plan",
            "divided by tenant")
        .allSatisfy((kind, times) -> assertThat(times).isGreaterThan(50));
  }

  private void note(Rule rule) {
    FairShare share = rule.fairShare();
    if (share != null) {
      count(share.weightEntry() == null ? "divided by tenant" : "divided by plan");
    }
    count(rule.onOutage().name());
    count(rule.scope().name());
    count("data loss " + rule.onDataLoss());
    if (!(rule.tier() instanceof Tier.Leasing leased)) {
      count(rule.tier().getClass().getSimpleName());
      return;
    }
    LeaseSize size = leased.size();
    count(size.getClass().getSimpleName());
    if (leased instanceof Tier.Leased regional && !regional.windowCoupled()) {
      count("carried over");
    }
    if (leased.lowWater() > 0) {
      count("low water");
    }
    if (rule.limits().size() > 1) {
      count("leased list");
    }
  }

  private void count(String kind) {
    reached.merge(kind, 1, Integer::sum);
  }
}
