package io.throttlekit.descriptors.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.ReferenceMatcher.Branch;
import io.throttlekit.descriptors.policy.ReferenceMatcher.Walk;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the matcher and the reference agree on random policies and requests. */
class MatchingAgainstReferenceTest {
  private static final int POLICIES = 4_000;
  private static final int REQUESTS = 20;

  private final Map<String, Integer> reached = new TreeMap<>();

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 20_261_121})
  void findsTheRuleCountersAndMetricKeysThatTheReferenceFinds(long seed) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    RandomPolicies policies = new RandomPolicies(random);
    for (int p = 0; p < POLICIES; p++) {
      RandomPolicies.Policy policy = policies.policy("shop");
      Level compiled = policy.compiled();
      for (int r = 0; r < REQUESTS; r++) {
        compare(policy, compiled, policies.request(policy));
      }
    }
    assertThat(reached)
        .as("branches reached")
        .containsOnlyKeys(
            "EXACT",
            "WILDCARD",
            "DEFAULT",
            "DEAD_END",
            "rule",
            "rule on the way ignored",
            "shared",
            "whitelisted",
            "wildcard by its own text")
        .allSatisfy((branch, times) -> assertThat(times).isGreaterThan(1_000));
  }

  private void compare(RandomPolicies.Policy policy, Level compiled, String[] entries) {
    String[] asGiven = entries.clone();
    Walk expected = ReferenceMatcher.match(policy, entries);
    Rule found = compiled.match(entries);
    Supplier<String> context = () -> Arrays.toString(entries) + " in\n" + policy;
    assertThat(found == null ? null : found.name()).as(context).isEqualTo(expected.ruleName());
    if (found != null) {
      assertThat(found.chargedEntries(entries))
          .as(context)
          .containsExactly(expected.chargedEntries().toArray(String[]::new));
      assertThat(found.metricKeys(entries)).as(context).isEqualTo(expected.metricKeys());
      if (!found.dynamicMetricKeys()) {
        assertThat(found.metricKeys(entries)).isSameAs(found.metricKeys(entries));
      }
    }
    assertThat(entries).as("untouched").isEqualTo(asGiven);
    note(policy, expected, entries);
  }

  private void note(RandomPolicies.Policy policy, Walk walk, String[] entries) {
    walk.branches().forEach(branch -> count(branch.name(), true));
    count("rule", walk.ruleName() != null);
    count("whitelisted", walk.whitelisted());
    count(
        "shared", walk.ruleName() != null && !walk.chargedEntries().equals(Arrays.asList(entries)));
    count(
        "wildcard by its own text",
        walk.branches().size() == 1
            && walk.branches().getFirst() == Branch.EXACT
            && (entries[0] + entries[1]).contains("*"));
    if (walk.ruleName() == null && entries.length == 4) {
      Walk shorter = ReferenceMatcher.match(policy, entries[0], entries[1]);
      count("rule on the way ignored", shorter.ruleName() != null);
    }
  }

  private void count(String what, boolean happened) {
    if (happened) {
      reached.merge(what, 1, Integer::sum);
    }
  }
}
