package io.throttlekit.descriptors.load;

import static io.throttlekit.descriptors.load.Loading.onlyRule;
import static io.throttlekit.descriptors.load.Loading.problems;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Cost;
import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.policy.OnOutage;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TierReaderTest {
  private static final Tier STRICT = new Tier.Strict();
  private static final Tier CACHED_DENY = new Tier.CachedDeny();
  private static final Tier.Leased LEASED =
      new Tier.Leased(new LeaseSize.Adaptive(), true, 0, 30_000);

  @Test
  void defaultsToStrictWithRefill() {
    Rule rule = rule("");
    assertThat(rule.tier()).isEqualTo(STRICT);
    assertThat(rule.namesTier()).isFalse();
    assertThat(rule.onOutage()).isEqualTo(OnOutage.ERROR);
    assertThat(rule.onDataLoss()).isEqualTo(DataLoss.REFILL);
    assertThat(rule("tier: , lease: ~, on_outage: , on_data_loss: ").tier()).isEqualTo(STRICT);
  }

  @Test
  void readsEachTierInAnyCase() {
    assertThat(rule("tier: strict").tier()).isEqualTo(STRICT);
    assertThat(rule("tier: strict").namesTier()).isTrue();
    assertThat(rule("tier: Cached_Deny").tier()).isEqualTo(CACHED_DENY);
    assertThat(rule("tier: LEASED").tier()).isEqualTo(LEASED);
  }

  @Test
  void readsOnOutageAndOnDataLoss() {
    assertThat(List.of("error", "deny", "allow", "local"))
        .extracting(word -> rule("on_outage: " + word).onOutage())
        .containsExactly(OnOutage.ERROR, OnOutage.DENY, OnOutage.ALLOW, OnOutage.LOCAL);
    assertThat(rule("on_data_loss: refill").onDataLoss()).isEqualTo(DataLoss.REFILL);
    assertThat(rule("on_data_loss: Deny").onDataLoss()).isEqualTo(DataLoss.DENY);
  }

  @Test
  void omittedFieldsOfALeaseHaveDefaults() {
    assertThat(rule("tier: leased, lease: {}").tier()).isEqualTo(LEASED);
    assertThat(leased("size: adaptive")).isEqualTo(LEASED);
    assertThat(leased("size: predictive"))
        .isEqualTo(new Tier.Leased(new LeaseSize.Predictive(), true, 0, 30_000));
    assertThat(leased("window_coupled: false"))
        .isEqualTo(new Tier.Leased(new LeaseSize.Adaptive(), false, 0, 30_000));
    assertThat(leased("low_water: 7"))
        .isEqualTo(new Tier.Leased(new LeaseSize.Adaptive(), true, 7, 30_000));
    assertThat(leased("size: 0x10, window_coupled: no, low_water: 15, return_idle_after: 2m"))
        .isEqualTo(new Tier.Leased(new LeaseSize.Fixed(16), false, 15, 120_000));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "0s, 0", "1ms, 1", "1m30s, 90000", "23h, 82800000"})
  void readsReturnIdleAfter(String text, long millis) {
    assertThat(leased("return_idle_after: " + text).returnIdleAfterMillis()).isEqualTo(millis);
  }

  @Test
  void acceptsTheLargestSizeAndWarnsThatItIsCapped() {
    String policy = policy("tier: leased, lease: {size: " + Cost.MAX + "}");
    assertThat(onlyRule(policy).tier())
        .isEqualTo(new Tier.Leased(new LeaseSize.Fixed(Cost.MAX), true, 0, 30_000));
    assertThat(problems(policy)).singleElement().asString().contains("warning: `size` is above");
  }

  @Test
  void doesNotWarnOfEffectiveSettings() {
    for (String lease :
        List.of(
            "size: 99",
            "size: 2, low_water: 1",
            "low_water: 98",
            "low_water: 0",
            "return_idle_after: 23h59m59s999ms",
            "return_idle_after: 0",
            "window_coupled: false, return_idle_after: 2d")) {
      assertThat(problems(policy("tier: leased, lease: {" + lease + "}"))).as(lease).isEmpty();
    }
  }

  @Test
  void aLeaseOfSeveralLimitsIsCheckedAgainstTheLargestAndTheSmallest() {
    assertThat(ofLimits("{size: 50, low_water: 4}", "")).isEmpty();
    assertThat(ofLimits("{size: 51}", ""))
        .singleElement()
        .asString()
        .contains("above the limit of 50");
    assertThat(ofLimits("{low_water: 5}", "")).singleElement().asString().contains("limit of 5:");
    assertThat(ofLimits("{return_idle_after: 23h}", "")).isEmpty();
    assertThat(ofLimits("{return_idle_after: 24h}", ""))
        .singleElement()
        .asString()
        .contains("ends with the window of 1d");
  }

  @Test
  void aLimitOfZeroIsIgnoredWhenALeaseIsChecked() {
    String limits = "limits: [{unit: day, requests_per_unit: 0}]";
    assertThat(
            problems(
                "domain: d\n"
                    + "descriptors:\n"
                    + "  - {key: k, tier: leased, lease: {size: 9, low_water: 8}, "
                    + limits
                    + "}\n"))
        .isEmpty();
  }

  @Test
  void theLimitsOfOneDescriptorHaveOneTier() {
    for (String same : List.of("", ", tier: leased")) {
      String policy = severalLimits("tier: leased, lease: {size: 3}", same);
      assertThat(onlyRule(policy).tier())
          .isEqualTo(new Tier.Leased(new LeaseSize.Fixed(3), true, 0, 30_000));
    }
    assertThat(onlyRule(severalLimits("on_data_loss: deny", ", tier: cached_deny")))
        .extracting(Rule::tier, Rule::onDataLoss)
        .containsExactly(CACHED_DENY, DataLoss.DENY);
  }

  @Test
  void anUnlimitedRuleIsStrictWithoutAWarning() {
    String policy = "domain: d\ndescriptors: [{key: k, rate_limit: {unlimited: true}}]\n";
    assertThat(problems(policy)).isEmpty();
    assertThat(onlyRule(policy).tier()).isEqualTo(STRICT);
  }

  @Test
  void cachedDenialsAreAllowedWithEveryAlgorithm() {
    for (String algorithm :
        List.of("fixed_window", "sliding_window", "sliding_log", "gcra", "token_bucket")) {
      String fields = "tier: cached_deny, algorithm: " + algorithm;
      assertThat(problems(policy(fields))).isEmpty();
      assertThat(rule(fields).tier()).isEqualTo(CACHED_DENY);
    }
  }

  @Test
  void overdraftFalseIsAllowedWithEveryTier() {
    assertThat(rule("tier: leased, overdraft: false").tier()).isEqualTo(LEASED);
    assertThat(rule("tier: cached_deny, overdraft: no").tier()).isEqualTo(CACHED_DENY);
  }

  @Test
  void reportsNothingElseOfAnUnreadableTier() {
    assertThat(problems(policy("tier: laesed, overdraft: true, algorithm: gcra, lease: {size: 2}")))
        .singleElement()
        .asString()
        .contains("`laesed` is not a value of `tier` (did you mean leased?");
    assertThat(problems(policy("<<: *gone, lease: {size: 2}")))
        .singleElement()
        .asString()
        .contains("gone");
  }

  @ParameterizedTest
  @CsvSource({
    "tier: strcit, strict",
    "tier: cached, cached_deny",
    "tier: cache-deny, cached_deny",
    "tier: leasing, leased",
    "on_outage: allways, allow",
    "on_outage: denied, deny",
    "on_outage: locally, local",
    "on_data_loss: refil, refill",
    "on_data_loss: denny, deny",
    "'tier: leased, lease: {size: predict}', predictive",
    "'tier: leased, lease: {size: adaptiv}', adaptive"
  })
  void aMisspeltValueGetsASuggestion(String fields, String meant) {
    assertThat(problems(policy(fields)))
        .singleElement()
        .asString()
        .contains("(did you mean " + meant + "? One of: ");
  }

  @Test
  void aValueWithTheSamePrefixGetsNoSuggestion() {
    assertThat(problems(policy("on_data_loss: refuse")))
        .singleElement()
        .asString()
        .contains("is not a value of `on_data_loss` (allowed: refill, deny)");
  }

  @Test
  void aLeaseOfAnExplicitStrictTierIsReportedAsSuch() {
    assertThat(problems(policy("tier: strict, lease: {size: 2}")))
        .singleElement()
        .asString()
        .contains("no meaning with tier strict (write tier: leased, or remove it)");
  }

  @Test
  void doesNotWarnOfALeaseThatIsAnError() {
    String lease = "lease: {size: 500, low_water: 200, return_idle_after: 2d}";
    assertThat(problems(policy("tier: cached_deny, " + lease)))
        .singleElement()
        .asString()
        .contains("error: `lease` has no meaning with tier cached_deny");
  }

  @Test
  void differingTiersAreReportedOnce() {
    String limits =
        "[{unit: day, requests_per_unit: 5, tier: leased},"
            + " {unit: day, requests_per_unit: 5, algorithm: gcra}]";
    assertThat(problems("domain: d\ndescriptors:\n  - {key: k, limits: " + limits + "}\n"))
        .singleElement()
        .asString()
        .contains("`tier` must be the same");
  }

  private static List<String> ofLimits(String lease, String more) {
    return problems(severalLimits("tier: leased, lease: " + lease, more));
  }

  private static String severalLimits(String beside, String more) {
    return "domain: d\ndescriptors:\n  - {key: k, %s, limits: [%s, %s]}\n"
        .formatted(
            beside,
            "{unit: hour, requests_per_unit: 5" + more + "}",
            "{unit: day, requests_per_unit: 50" + more + "}");
  }

  private static Tier.Leased leased(String lease) {
    return (Tier.Leased) rule("tier: leased, lease: {" + lease + "}").tier();
  }

  private static Rule rule(String fields) {
    return onlyRule(policy(fields));
  }

  private static String policy(String fields) {
    String limit = "{unit: day, requests_per_unit: 99, " + fields + "}";
    return "domain: d\ndescriptors:\n  - {key: k, rate_limit: " + limit + "}\n";
  }
}
