package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Severity;
import io.throttlekit.descriptors.source.SourceText;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("exploration")
@Tag("slow")
class PolicyLoaderFuzzTest {
  /** Cases of each of five seeds. */
  private static final int CASES = Boolean.getBoolean("throttlekit.thorough") ? 200_000 : 2_000;

  private static final List<String> SEEDS =
      List.of(
          """
          domain: shop
          descriptors:
            - key: user
              value: a*b
              share_threshold: true
              shadow_mode: false
              metadata: {plan: [gold, 1, 1.5, ~, {deep: true}]}
              rate_limit: &limit
                unit: minute
                requests_per_unit: 20
                name: user
                replaces:
                  - name: other
              descriptors:
                - key: path
                  rate_limit: *limit
                - <<: {key: base, quota_mode: yes}
                  key: other
                  rate_limit: {unlimited: true}
          """,
          """
          # several limits
          domain: d
          descriptors:
            - key: k
              on_outage: deny
              on_data_loss: deny
              tier: cached_deny
              limits:
                - {requests_per_unit: 5, every: 1m30s, algorithm: gcra, burst: 7}
                - {requests_per_unit: 1000, unit: day, algorithm: sliding_window}
            - key: leased
              rate_limit:
                requests_per_unit: 100
                unit: hour
                tier: leased
                lease: {size: 10, window_coupled: false, low_water: 5, return_idle_after: 1m}
            - key: remote_address
              detailed_metric: true
              value_to_metric: true
              rate_limit:
                requests_per_unit: 4294967295
                unit: SECOND
                overdraft: true
          """,
          """
          domain: d
          descriptors:
            - key: api
              rate_limit:
                requests_per_unit: 100000
                unit: second
                fair_share:
                  tenant: org
                  weight_entry: plan
                  weights: {gold: 4, silver: 2.5, "1": 0.001}
                  default_weight: 1.5
                  max_tenants: 1000
                  unlisted_share: 0.25
            - key: list
              fair_share: {tenant: org, weights: {acme: 3}}
              limits:
                - {requests_per_unit: 1000, unit: second}
                - {requests_per_unit: 100000, unit: day}
            - key: upstream
              concurrency:
                min: 4
                priority: {entry: priority, user: org}
                fair_share: {tenant: org}
          """);

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void returnsABookOrAnErrorForAnyInputAndNeverHangs(long seed) {
    RandomGenerator random = new SplittableRandom(seed);
    PolicyMutations mutations = new PolicyMutations(random, SEEDS);
    int books = 0;
    for (int i = 0; i < CASES; i++) {
      byte[] file = mutations.next();
      String text = SourceText.decode(file);
      LoadResult result = load(seed, i, text);
      boolean errors = result.problems().stream().anyMatch(p -> p.severity() == Severity.ERROR);
      assertThat(result.book() == null).as("seed %s case %s:%n%s", seed, i, text).isEqualTo(errors);
      books += errors ? 0 : 1;
    }
    // Mutations that all fail early would prove little, and so would ones that all load.
    assertThat(books).isBetween(CASES / 20, CASES * 19 / 20);
  }

  @Test
  void loadsItsOwnSeeds() {
    SEEDS.forEach(Loading::book);
  }

  private static LoadResult load(long seed, int index, String text) {
    PolicyLoader loader = new PolicyLoader(new LoadOptions((index & 1) == 0));
    List<PolicySource> sources =
        (index & 2) == 0 ? Loading.sources(text) : Loading.sources(text, "domain: other\n");
    try {
      return loader.load(sources);
    } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
      String hex = HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
      return Assertions.fail("seed %d case %d:%n%s%n%s".formatted(seed, index, text, hex), e);
    }
  }
}
