package io.throttlekit.descriptors.load;

import static io.throttlekit.descriptors.load.Loading.onlyRule;
import static io.throttlekit.descriptors.load.Loading.problems;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.policy.OnOutage;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.policy.Scope;
import io.throttlekit.descriptors.policy.Sharing;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Terms;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScopeReaderTest {
  @Test
  void defaultsToTheRegion() {
    for (String written : List.of("", "scope: ", "scope: region", "scope: Region, tier: leased")) {
      assertThat(rule(written).scope()).as(written).isEqualTo(Scope.REGION);
    }
    assertThat(rule("scope: region").namesTier()).isFalse();
  }

  @Test
  void aGlobalRuleIsAlwaysLeased() {
    for (String written :
        List.of("scope: global", "scope: GLOBAL, tier: leased, overdraft: false")) {
      Rule rule = rule(written);
      assertThat(rule.scope()).as(written).isEqualTo(Scope.GLOBAL);
      assertThat(rule.tier()).as(written).isEqualTo(global(new LeaseSize.Adaptive(), 0, 30_000));
      assertThat(rule.namesTier()).as(written).isTrue();
      assertThat(rule.onOutage()).as(written).isEqualTo(OnOutage.ERROR);
    }
  }

  @Test
  void aLeaseConfiguresAGlobalRuleWithoutATier() {
    assertThat(rule("scope: global, lease: {size: 8, low_water: 2, return_idle_after: 0}").tier())
        .isEqualTo(global(new LeaseSize.Fixed(8), 2, 0));
    assertThat(rule("scope: global, lease: {window_coupled: true}").tier())
        .isEqualTo(global(new LeaseSize.Adaptive(), 0, 30_000));
  }

  @Test
  void readsSharedTermsAndTheOutageMode() {
    Tier tier = rule("scope: global, on_outage: regional_only, on_data_loss: deny").tier();
    assertThat(tier)
        .isEqualTo(
            new Tier.Global(new LeaseSize.Adaptive(), 0, 30_000, terms(), DataLoss.DENY, true));
  }

  private static Terms terms() {
    return new Terms("d", List.of(new FixedWindow(99, 86_400_000)));
  }

  private static Tier global(LeaseSize size, long lowWater, long returnIdleAfterMillis) {
    return new Tier.Global(size, lowWater, returnIdleAfterMillis, terms(), DataLoss.REFILL, false);
  }

  @Test
  void checksItsLeaseLikeAnyOther() {
    assertThat(problems(policy("scope: global, lease: {size: 100}")))
        .singleElement()
        .asString()
        .contains("warning: `size` is above the limit of 99");
  }

  @Test
  void regionalOnlyIsAllowedForGlobalRulesOnly() {
    assertThat(List.of("error", "deny", "allow", "local", "regional_only"))
        .extracting(word -> rule("scope: global, on_outage: " + word).onOutage())
        .containsExactly(OnOutage.values());
    assertThat(problems(policy("on_outage: regional_only")))
        .singleElement()
        .asString()
        .contains("a.yaml:3:")
        .contains("error: `on_outage: regional_only` is for scope: global only (write scope: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"scope: global, limits: [%s, %s]", "limits: [%s, %s]"})
  void theLimitsOfOneDescriptorHaveOneScope(String limits) {
    String more = limits.startsWith("scope") ? "" : ", scope: global";
    String text =
        limits.formatted(
            "{unit: hour, requests_per_unit: 5" + more + "}",
            "{unit: day, requests_per_unit: 50" + more + "}");
    Rule rule = onlyRule("domain: d\ndescriptors:\n  - {key: k, " + text + "}\n");
    assertThat(rule.scope()).isEqualTo(Scope.GLOBAL);
    assertThat(rule.tier()).isInstanceOf(Tier.Global.class);
    List<FixedWindow> budgets =
        List.of(new FixedWindow(5, 3_600_000), new FixedWindow(50, 86_400_000));
    assertThat(((Tier.Global) rule.tier()).terms()).isEqualTo(new Terms("d", budgets));
  }

  @Test
  void reportsNothingElseOfAnUnreadableScope() {
    for (String written :
        List.of(
            "scope: goblal, lease: {size: 2}, on_outage: regional_only",
            "<<: *gone, lease: {window_coupled: false}, on_outage: regional_only")) {
      assertThat(problems(policy(written))).as(written).hasSize(1);
    }
  }

  @Test
  void withoutFederationAGlobalRuleIsAnErrorAtItsLocation() {
    LoadOptions alone = new LoadOptions(true, "", false, true, true, false);
    String several =
        "domain: e\ndescriptors: [{key: k, limits: ["
            + "{unit: day, requests_per_unit: 1, scope: Global}]}]\n";
    LoadResult result =
        new PolicyLoader(alone).load(Loading.sources(policy("scope: global"), several));
    assertThat(result.book()).isNull();
    assertThat(result.problems())
        .extracting(Problem::toString)
        .containsExactly(
            "a.yaml:3:68: error: scope: global needs --coordinator and --region (start the service"
                + " with both, or write scope: region)",
            "b.yaml:2:74: error: scope: global needs --coordinator and --region (start the service"
                + " with both, or write scope: region)");
    assertThat(new PolicyLoader(alone).load(Loading.sources(policy("scope: region"))).book())
        .isNotNull();
  }

  @Test
  void describesAGlobalRule() {
    assertThat(rule("scope: global, lease: {size: 8}, on_outage: regional_only").inWords())
        .isEqualTo(
            "99 per day (fixed_window), leased over all regions in batches of 8, on outage"
                + " regional_only");
  }

  @Test
  void onlyWindowCoupledLeasesCanBeGlobal() {
    Tier carriedOver = new Tier.Leased(new LeaseSize.Adaptive(), false, 0, 0);
    assertThatIllegalArgumentException().isThrownBy(() -> Sharing.of(Scope.GLOBAL, null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Sharing.of(Scope.GLOBAL, new Tier.Strict()));
    assertThatIllegalArgumentException().isThrownBy(() -> Sharing.of(Scope.GLOBAL, carriedOver));
  }

  private static Rule rule(String fields) {
    return onlyRule(policy(fields));
  }

  private static String policy(String fields) {
    String limit = "{unit: day, requests_per_unit: 99, " + fields + "}";
    return "domain: d\ndescriptors:\n  - {key: k, rate_limit: " + limit + "}\n";
  }
}
