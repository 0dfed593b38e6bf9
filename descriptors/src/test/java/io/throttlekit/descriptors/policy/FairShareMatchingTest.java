package io.throttlekit.descriptors.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.throttlekit.CounterKey;
import io.throttlekit.descriptors.load.Loading;
import io.throttlekit.descriptors.policy.FairShare.Weight;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FairShareMatchingTest {
  private static final String PLANS =
      "{tenant: org, weight_entry: plan, weights: {gold: 4, silver: 2.5}}";

  @Test
  void tenantAndWeightFollowTheEntriesOfTheRuleInAnyOrder() {
    PolicyBook book = limited("api", PLANS);
    for (String[] entries :
        List.of(
            new String[] {"api", "v1", "org", "acme", "plan", "gold"},
            new String[] {"api", "v1", "plan", "gold", "org", "acme"})) {
      Rule rule = Objects.requireNonNull(match(book, entries));
      assertThat(rule.tenant(entries)).isEqualTo("acme");
      assertThat(rule.tenantWeight(entries)).isEqualTo(new Weight(4_000, true));
      assertThat(rule.chargedEntries(entries)).containsExactly("api", "v1");
      assertThat(rule.tenantEntries(entries)).containsExactly("api", "v1", "org", "acme");
    }
  }

  @Test
  void aTenantWithoutAListedWeightHasTheDefault() {
    PolicyBook book = limited("api", PLANS);
    assertThat(weight(book, "api", "", "org", "acme", "plan", "iron"))
        .isEqualTo(new Weight(1_000, false));
    assertThat(weight(book, "api", "", "org", "gold")).isEqualTo(new Weight(1_000, false));
    assertThat(weight(book, "api", "", "plan", "silver", "org", ""))
        .isEqualTo(new Weight(2_500, true));
    PolicyBook byTenant = limited("api", "{tenant: org, weights: {acme: 3}, default_weight: 0.5}");
    assertThat(weight(byTenant, "api", "", "org", "acme")).isEqualTo(new Weight(3_000, true));
    assertThat(weight(byTenant, "api", "", "org", "initech")).isEqualTo(new Weight(500, false));
  }

  @Test
  void requestsInTurnHaveTheKeysOfTheirOwnPools() {
    PolicyBook book = limited("api", PLANS);
    for (String version : List.of("v1", "v1", "v2", "v1")) {
      String[] entries = {"api", version, "org", "acme"};
      Rule rule = Objects.requireNonNull(match(book, entries));
      Limit limit = rule.limits().getFirst();
      assertThat(limit.counter(rule, entries))
          .isEqualTo(CounterKey.of(limit.counterScope(), "api", version));
    }
  }

  @Test
  void eachLimitOfARuleHasThePoolInAScopeOfItsOwn() {
    PolicyBook book =
        Loading.book(
            """
            domain: d
            descriptors:
              - key: api
                value: v*
                share_threshold: true
                limits:
                  - {requests_per_unit: 10, unit: second}
                  - {requests_per_unit: 100, unit: minute}
                fair_share: {tenant: org}
            """);
    for (String version : List.of("v1", "v2", "v*")) {
      String[] entries = {"api", version, "org", "acme"};
      Rule rule = Objects.requireNonNull(match(book, entries));
      for (Limit limit : rule.limits()) {
        CounterKey pool = limit.counter(rule, entries);
        assertThat(pool).isEqualTo(CounterKey.of(limit.counterScope(), "api", "v*"));
        assertThat(pool.lowHash()).isEqualTo(CounterKey.of("", "api", "v*").lowHash());
      }
    }
  }

  @Test
  void withoutATenantTheRuleIsNotReached() {
    PolicyBook book = limited("api", PLANS);
    assertThat(match(book, "api", "v1")).isNull();
    assertThat(match(book, "api", "v1", "plan", "gold")).isNull();
    assertThat(match(book, "api", "v1", "org", "acme")).isNotNull();
    assertThat(match(book, "org", "acme", "api", "v1")).as("the rule's own come first").isNull();
  }

  @Test
  void aTenantIsFoundByTheKeyAloneWhateverItsName() {
    // The text of the entry org=plan is org_plan, which is the key of the other entry.
    PolicyBook book = limited("api", "{tenant: org, weight_entry: org_plan, weights: {gold: 4}}");
    String[] entries = {"api", "v1", "org", "plan", "org_plan", "gold"};
    assertThat(weight(book, entries)).isEqualTo(new Weight(4_000, true));
    assertThat(Objects.requireNonNull(match(book, entries)).tenant(entries)).isEqualTo("plan");
    assertThat(match(book, "api", "v1", "org", "plan")).isNotNull();

    PolicyBook reversed = limited("api", "{tenant: org_id, weight_entry: org, weights: {id: 4}}");
    assertThat(match(reversed, "api", "v1", "org", "id")).as("no tenant").isNull();
    assertThat(weight(reversed, "api", "v1", "org", "id", "org_id", "a"))
        .isEqualTo(new Weight(4_000, true));
    PolicyBook star = limited("api", "{tenant: 'o*g'}");
    assertThat(match(star, "api", "v1", "org", "acme")).isNull();
    assertThat(match(star, "api", "v1", "o*g", "acme")).isNotNull();
  }

  @Test
  void aPriorityIsFoundByTheKeyAloneToo() {
    PolicyBook book =
        Loading.book(
            "domain: d\ndescriptors: [{key: up, concurrency: {priority: {entry: user_prio, user:"
                + " user}}}]\n");
    assertThat(match(book, "up", "a", "user", "prio", "user_prio", "high")).isNotNull();
  }

  @Test
  void otherDescriptorsBelowAreReachedAsBefore() {
    PolicyBook book =
        Loading.book(
            """
            domain: d
            descriptors:
              - key: api
                rate_limit:
                  {requests_per_unit: 1000, unit: day, name: fair, fair_share: {tenant: org}}
                descriptors:
                  - {key: path, rate_limit: {requests_per_unit: 5, unit: day, name: path}}
            """);
    assertThat(Objects.requireNonNull(match(book, "api", "", "path", "/")).name())
        .isEqualTo("path");
    assertThat(Objects.requireNonNull(match(book, "api", "", "org", "a")).name()).isEqualTo("fair");
    assertThat(match(book, "api", "", "path", "/", "org", "a")).isNull();
  }

  @Test
  void aConcurrencyLimitTakesTenantPriorityAndUserInAnyOrder() {
    PolicyBook book =
        Loading.book(
            "domain: d\ndescriptors: [{key: up, concurrency: {priority: {entry: prio, user: who},"
                + " fair_share: "
                + PLANS
                + "}}]\n");
    assertThat(ordersThatMatch(book, "up", List.of("org", "plan", "prio", "who"), "org"))
        .isEqualTo(49); // of the 64 orders of up to four, those with the tenant
    PolicyBook same =
        Loading.book(
            "domain: d\ndescriptors: [{key: up, concurrency: {priority: {entry: prio, user: org},"
                + " fair_share: {tenant: org}}}]\n");
    assertThat(match(same, "up", "a", "prio", "high", "org", "acme")).isNotNull();
    assertThat(match(same, "up", "a", "prio", "high")).isNull();
  }

  /** Returns how many sequences of distinct entries match, each compared with the definition. */
  private static int ordersThatMatch(
      PolicyBook book, String key, List<String> own, String required) {
    Random random = new Random(26);
    Set<List<String>> matched = new HashSet<>();
    for (int i = 0; i < 20_000; i++) {
      List<String> keys = new ArrayList<>();
      for (int n = random.nextInt(own.size() + 2); n > 0; n--) {
        keys.add(random.nextInt(12) == 0 ? "other" : own.get(random.nextInt(own.size())));
      }
      List<String> entries = new ArrayList<>(List.of(key, "x"));
      keys.forEach(each -> Collections.addAll(entries, each, "v"));
      boolean expected =
          own.containsAll(keys)
              && keys.contains(required)
              && new HashSet<>(keys).size() == keys.size();
      boolean found = match(book, entries.toArray(String[]::new)) != null;
      assertThat(found).as("%s", entries).isEqualTo(expected);
      if (found) {
        matched.add(keys);
      }
    }
    return matched.size();
  }

  @Test
  void patternsThatShareACounterShareThePool() {
    PolicyBook book =
        Loading.book(
            """
            domain: d
            descriptors:
              - key: path
                value: /api*
                share_threshold: true
                rate_limit: {requests_per_unit: 1000, unit: day, fair_share: {tenant: org}}
            """);
    String[] entries = {"path", "/api/a", "org", "acme"};
    Rule rule = Objects.requireNonNull(match(book, entries));
    assertThat(rule.chargedEntries(entries)).containsExactly("path", "/api*");
    assertThat(rule.tenantEntries(entries)).containsExactly("path", "/api*", "org", "acme");
    assertThat(entries).containsExactly("path", "/api/a", "org", "acme");
    assertThat(rule.metricKeys(entries)).as("no tenant").containsExactly("path_/api*");
  }

  @Test
  void aPoolHasACounterOfItsOwnAndPlainCountersAreAsTheyWere() {
    Rule fair = limited("api", PLANS).rules().getFirst();
    Rule plain = limited("api", "").rules().getFirst();
    assertThat(fair.limits().getFirst().counterScope())
        .isNotEqualTo(plain.limits().getFirst().counterScope());
    assertThat(plain.limits().getFirst().counterScope()).isEqualTo("1:d/fixed_window/1000");
    assertThat(plain.fairShare()).isNull();
    assertThatThrownBy(() -> plain.tenant(new String[] {"api", "", "org", "acme"}))
        .isInstanceOf(IllegalArgumentException.class);
    // entries that a process would have charged under for a descriptor of both
    assertThat(CounterKey.of(fair.limits().getFirst().counterScope(), "api", "", "org", "acme"))
        .isNotEqualTo(
            CounterKey.of(plain.limits().getFirst().counterScope(), "api", "", "org", "acme"));
  }

  @Test
  void aChargeNamesTheTenantInAScopeOfItsOwn() {
    PolicyBook book = limited("api", PLANS + ", on_outage: local");
    String[] entries = {"api", "v1", "plan", "silver", "org", "acme"};
    Rule rule = Objects.requireNonNull(match(book, entries));
    Limit limit = rule.limits().getFirst();
    FairTenant tenant = Objects.requireNonNull(limit.tenant(rule, entries));
    assertThat(limit.counterScope()).isEqualTo("1:d/fixed_window/1000/fair");
    assertThat(tenant.key())
        .isEqualTo(CounterKey.of("1:d/fixed_window/1000/tenant", "api", "v1", "org", "acme"));
    assertThat(tenant.weight()).isEqualTo(TenantWeight.listed(2_500));
    assertThat(tenant.terms()).isEqualTo(new FairTerms(1_000, 1_000, 1, 500_000, 100_000));
    String[] other = {"api", "v1", "org", "initech"};
    assertThat(Objects.requireNonNull(limit.tenant(rule, other)).terms())
        .as("one object for all requests")
        .isSameAs(tenant.terms());
    Rule plain = limited("api", "").rules().getFirst();
    assertThat(plain.limits().getFirst().tenant(plain, other)).isNull();
  }

  @Test
  void theTermsAreThoseOfTheDivision() {
    Rule rule =
        limited("api", "{tenant: org, weights: {a: 2}, max_tenants: 7, unlisted_share: 0.25}")
            .rules()
            .getFirst();
    assertThat(Objects.requireNonNull(rule.limits().getFirst().division()).terms())
        .isEqualTo(new FairTerms(1_000, 1_000, 1, 250_000, 7));
  }

  @Test
  void theLimitOfARequestIsNotDivided() {
    String[] entries = {"api", "", "org", "acme"};
    Rule override = Rule.override("d", entries, new LimitOverride(5, LimitUnit.SECOND));
    assertThat(override.fairShare()).isNull();
    assertThat(override.chargedEntries(entries)).isSameAs(entries);
  }

  @Test
  void theCommonFormsAllocateNothingButThePool() {
    Rule rule = limited("api", "{tenant: org, weights: {acme: 4}}").rules().getFirst();
    String[] entries = {"api", "", "org", "acme"};
    assertThat(rule.tenantEntries(entries)).isSameAs(entries);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long found = 0;
    long bytes = 0;
    for (int round = 0; round < 2; round++) { // the first one loads classes
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 20_000; i++) {
        found += rule.tenant(entries).length() + rule.tenantWeight(entries).thousandths();
        found += rule.tenantEntries(entries).length;
      }
      bytes = threads.getCurrentThreadAllocatedBytes() - before;
    }
    assertThat(found).isEqualTo(2 * 20_000 * 4_008L);
    assertThat(bytes).isLessThan(20_000);
  }

  @Test
  void sharesAreExactInThousandths() {
    FairShare share =
        Objects.requireNonNull(
            limited(
                    "api",
                    "{tenant: org, weights: {a: 0.1, b: 0.2, c: 0.003}, unlisted_share: 0.25}")
                .rules()
                .getFirst()
                .fairShare());
    assertThat(share.listedThousandths()).isEqualTo(303);
    assertThat(share.unlistedUnits(1_000)).isEqualTo(250);
    assertThat(share.guarantee(share.weightOf("a"), 1_000)).isEqualTo(750 * 100 / 303);
    assertThat(share.guarantee(share.weightOf("c"), 1_000)).isEqualTo(7);
    assertThat(share.guarantee(share.weightOf("d"), 1_000)).as("1000/1303, at most").isEqualTo(250);
    assertThat(new Weight(1, true)).hasToString("0.001");
    assertThat(new Weight(1_000_000_000, true)).hasToString("1000000");
    // multiplied before it is divided: 6/11 of 99 is 54, where (6 / 11) * 99 rounds to 53
    assertThat(
            new FairShare(
                    "t",
                    null,
                    Map.of("a", new Weight(6_000, true), "b", new Weight(5_000, true)),
                    new Weight(1_000, false),
                    10,
                    0)
                .guarantee(new Weight(6_000, true), 99))
        .isEqualTo(54);
  }

  private static PolicyBook limited(String key, String share) {
    String more = share.isEmpty() ? "" : ", fair_share: " + share;
    return Loading.book(
        ("domain: d\ndescriptors: [{key: %s, rate_limit: {unit: second,"
                + " requests_per_unit: 1000%s}}]\n")
            .formatted(key, more));
  }

  private static @Nullable Rule match(PolicyBook book, String... entries) {
    return Descriptors.match(book, entries);
  }

  private static Weight weight(PolicyBook book, String... entries) {
    Rule rule = match(book, entries);
    assertThat(rule).as(Arrays.toString(entries)).isNotNull();
    return Objects.requireNonNull(rule).tenantWeight(entries);
  }
}
