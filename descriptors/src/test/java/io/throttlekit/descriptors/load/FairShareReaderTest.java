package io.throttlekit.descriptors.load;

import static io.throttlekit.descriptors.load.Loading.onlyRule;
import static io.throttlekit.descriptors.load.Loading.problems;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.Explainer;
import io.throttlekit.descriptors.policy.Explanation;
import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.FairShare.Weight;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Its errors and warnings are those of the files {@code bad/fair-share*.yaml}. */
class FairShareReaderTest {

  @Test
  void omittedFieldsHaveDefaults() {
    FairShare defaults =
        new FairShare("org", null, Map.of(), new Weight(1_000, false), 100_000, 500_000);
    assertThat(share("tenant: org")).isEqualTo(defaults);
    assertThat(share("tenant: org, weights: , weight_entry: ~, default_weight: "))
        .isEqualTo(defaults);
    assertThat(share("tenant: org, weights: {}")).isEqualTo(defaults);
  }

  @Test
  void readsEveryField() {
    FairShare share =
        share(
            "tenant: org, weight_entry: plan, weights: {gold: 4, silver: 2.5, '1': 0.001},"
                + " default_weight: 0.5, max_tenants: 500, unlisted_share: 0.125");
    assertThat(share)
        .isEqualTo(
            new FairShare(
                "org",
                "plan",
                Map.of(
                    "gold", new Weight(4_000, true),
                    "silver", new Weight(2_500, true),
                    "1", new Weight(1, true)),
                new Weight(500, false),
                500,
                125_000));
    assertThat(share.weights().keySet()).containsExactly("gold", "silver", "1");
    assertThat(share("tenant: org, weights: {a: 1000000, b: 2.500}").weights().values())
        .containsExactly(new Weight(1_000_000_000, true), new Weight(2_500, true));
  }

  @Test
  void aListOfLimitsHasItBesideThem() {
    Rule rule =
        onlyRule(
            """
            domain: d
            descriptors:
              - key: api
                fair_share: {tenant: org}
                limits:
                  - {requests_per_unit: 1000, unit: second}
                  - {requests_per_unit: 9999, unit: day}
            """);
    assertThat(rule.limits()).hasSize(2);
    assertThat(Objects.requireNonNull(rule.fairShare()).tenantEntry()).isEqualTo("org");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tier: strict",
        "tier: strict, overdraft: true",
        "tier: cached_deny",
        "tier: leased",
        "tier: leased, lease: {size: 10}",
        "scope: global",
        "on_outage: local",
        "algorithm: fixed_window"
      })
  void goesTogetherWithEveryTierAndScope(String more) {
    assertThat(problems(limited("tenant: org", more))).isEmpty();
    assertThat(onlyRule(limited("tenant: org", more)).fairShare()).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shadow_mode", "quota_mode", "detailed_metric", "value_to_metric"})
  void goesTogetherWithTheFlagsOfADescriptor(String flag) {
    String policy =
        limited("tenant: org", "").replace("{key: api,", "{key: api, " + flag + ": true,");
    assertThat(problems(policy)).isEmpty();
  }

  @Test
  void aConcurrencyLimitIsDividedInTheSameWay() {
    String policy =
        "domain: d\ndescriptors: [{key: up, concurrency: {fair_share: {tenant: org, weights:"
            + " {acme: 2}}}}]\n";
    assertThat(problems(policy)).isEmpty();
    Rule rule = onlyRule(policy);
    assertThat(rule.fairShare()).isEqualTo(share("tenant: org, weights: {acme: 2}"));
    assertThat(rule.inWords())
        .endsWith(", divided among the tenants of entry org (1 weight by entry org, others 1)");
  }

  @Test
  void sixtyFourDifferentWeightsArePossible() {
    // with the default, which is 1
    assertThat(problems(limited("tenant: org, weights: {" + weights(64) + "}", ""))).isEmpty();
    assertThat(problems(limited("tenant: org, weights: {" + weights(65) + "}", "")))
        .containsExactly(
            "a.yaml:2:106: error: there are 65 different weights, with the default; at most 64 are"
                + " possible (give tenants that are nearly equal the same weight)");
    String equal =
        IntStream.rangeClosed(1, 500)
            .mapToObj(i -> "t" + i + ": 2")
            .collect(Collectors.joining(","));
    assertThat(problems(limited("tenant: org, weights: {" + equal + "}", ""))).isEmpty();
  }

  private static String weights(int count) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(i -> "t" + i + ": " + i)
        .collect(Collectors.joining(", "));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "100, tenant: org",
        "10, `tenant: org, max_tenants: 10`",
        "200, `tenant: org, weights: {acme: 1000, initech: 20}`",
        "200, `tenant: org, weight_entry: plan, weights: {gold: 100, silver: 50}`",
        "10, `tenant: org, unlisted_share: 0, weights: {acme: 5, initech: 5}`",
        "0, tenant: org"
      })
  void thereIsNoWarningWhereGuaranteesAreUnitsForTheExpectedTenants(int limit, String share) {
    String policy = limited(share, "").replace("100000", "" + limit);
    assertThat(problems(policy)).isEmpty();
  }

  @Test
  void explainShowsTenantWeightGuaranteeAndPool() {
    assertThat(explain(limited("tenant: org, weights: {acme: 4, initech: 2}", ""), "org", "acme"))
        .containsExactly(
            "rule `api` at a.yaml:2:26: 100000 per second (fixed_window), divided among the tenants"
                + " of entry org (2 weights by entry org, others 1)",
            "  entry 1 api=v1: default of `api` (a.yaml:2:15)",
            "  entry 2 org=acme: default of `org` (a.yaml:2:26)",
            "  tenant acme: weight 4 (listed)",
            "  guarantee: at least 33333 of 100000 per second, beside all listed tenants",
            "  refused: if its guarantee is used and the rest is reserved for other tenants, or"
                + " used",
            "  pool of all tenants: api=v1");
    assertThat(explain(limited("tenant: org, weights: {acme: 4, initech: 2}", ""), "org", "x"))
        .contains(
            "  tenant x: weight 1 (the default)",
            "  guarantee: 14285 of 100000 per second, beside all listed tenants, less with more"
                + " tenants (0 with more than 50000 such tenants)");
    String plans = limited("tenant: org, weight_entry: plan, weights: {gold: 4, silver: 2}", "");
    assertThat(explain(plans, "plan", "gold", "org", "acme"))
        .contains(
            "  guarantee: 33333 of 100000 per second, beside one tenant of each listed weight, and"
                + " unlisted ones, less with more tenants");
    assertThat(explain(limited("tenant: org", ""), "org", "acme"))
        .contains(
            "  guarantee: 100000 of 100000 per second, without other tenants, less with more"
                + " tenants (0 with more than 100000 such tenants)");
  }

  @Test
  void explainShowsThePartOfAConcurrencyLimit() {
    String policy =
        "domain: d\ndescriptors: [{key: api, concurrency: {max: 200, fair_share: {tenant: org,"
            + " weights: {acme: 3, initech: 1}}}}]\n";
    assertThat(explain(policy, "org", "acme"))
        .contains(
            "  guarantee: at least 75 of 200 in flight while the limit is at its largest, beside"
                + " all listed tenants");
  }

  @Test
  void explainNamesEveryMissingEntryOfARuleOnce() {
    PolicyBook book =
        Loading.book(
            """
            domain: d
            descriptors:
              - key: service
                descriptors:
                  - key: api
                    rate_limit:
                      requests_per_unit: 1000
                      unit: day
                      fair_share: {tenant: org, weight_entry: plan, weights: {a: 2}}
            """);
    assertThat(
            new Explainer()
                .explain(book, "d", new String[] {"service", "a"}).nearMisses().stream()
                    .map(Explanation.NearMiss::message))
        .containsExactly("rule `service.api` at a.yaml:6:9 needs 2 more entries: api, org");
  }

  @Test
  void explainNamesTheMissingTenant() {
    String plans = limited("tenant: org, weight_entry: plan, weights: {gold: 4}", "");
    assertThat(explain(plans))
        .containsExactly(
            "no rule: no entry `org` names the tenant for `api` (a.yaml:2:15), so its limit does"
                + " not apply",
            "  entry 1 api=v1: default of `api` (a.yaml:2:15)",
            "  near miss: rule `api` at a.yaml:2:26 needs one more entry: org");
    assertThat(explain(plans, "plan", "gold").getFirst())
        .isEqualTo(
            "no rule: no entry `org` names the tenant for `plan` (a.yaml:2:26), so its limit does"
                + " not apply");
    assertThat(explain(plans, "team", "x").getFirst())
        .isEqualTo(
            "no rule: entry 2 team=x, and nothing matches it below `api` (a.yaml:2:15), whose limit"
                + " needs an entry `org` that names the tenant");
    assertThat(explain(plans, "org", "acme", "zone", "eu").getFirst())
        .isEqualTo("no rule: entry 3 zone=eu, and nothing matches it below `org` (a.yaml:2:26)");
    assertThat(explain(plans, "ogr", "acme"))
        .contains("  near miss: key `ogr` is nearly `org` (a.yaml:2:26)");
    assertThat(explain(plans, "org", "acme", "zone", "eu"))
        .contains("  near miss: without entry 3 zone=eu, rule `api` at a.yaml:2:26 matches");
  }

  private static List<String> explain(String policy, String... entries) {
    String[] all = new String[entries.length + 2];
    all[0] = "api";
    all[1] = "v1";
    System.arraycopy(entries, 0, all, 2, entries.length);
    return new Explainer().explain(Loading.book(policy), "d", all).lines();
  }

  private static FairShare share(String fields) {
    return Objects.requireNonNull(onlyRule(limited(fields, "")).fairShare());
  }

  private static String limited(String fields, String more) {
    return "domain: d\n"
        + "descriptors: [{key: api, rate_limit: {unit: second, requests_per_unit: 100000,"
        + " fair_share: {"
        + fields
        + "}"
        + (more.isEmpty() ? "" : ", " + more)
        + "}}]\n";
  }
}
