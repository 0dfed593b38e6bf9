package io.throttlekit.descriptors.policy;

import static io.throttlekit.descriptors.policy.Descriptors.book;
import static io.throttlekit.descriptors.policy.Descriptors.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.throttlekit.descriptors.load.Loading;
import io.throttlekit.descriptors.policy.Explanation.NearMiss;
import io.throttlekit.descriptors.policy.Explanation.NearMiss.Kind;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

class ExplainerTest {
  private final PolicyBook book =
      book(
          "d",
          key("user").line(3).of(key("path").line(5).limit(5).of()),
          key("user")
              .value("premium")
              .line(10)
              .of(key("path").line(12).limit(50).of(key("method").line(14).limit(9).of())),
          key("file").value("foo*").line(20).limit(2).of(),
          key("plan").value("gold").line(25).limit(3).of(),
          key("tenant").line(30).unlimited().of(key("op").line(32).of()));

  @Test
  void namesTheRuleItsLimitAndEveryStep() {
    Explanation explanation = explain("user", "bob", "path", "/");

    assertThat(explanation.rule()).isSameAs(Descriptors.match(book, "user", "bob", "path", "/"));
    assertThat(explanation.nearMisses()).isEmpty();
    assertThat(explanation)
        .hasToString(
            """
            rule `user.path` at shop.yaml:5:5: 5 per minute (fixed_window)
              entry 1 user=bob: default of `user` (shop.yaml:3:5)
              entry 2 path=/: default of `path` (shop.yaml:5:5)\
            """);
  }

  @Test
  void suggestsADomainAndAKeyThatAreSpelledAlike() {
    assertThat(explain("usr", "bob").nearMisses())
        .extracting(NearMiss::kind, NearMiss::message)
        .contains(tuple(Kind.SPELLING, "key `usr` is nearly `user` (shop.yaml:3:5)"));
    assertThat(new Explainer().explain(book("shop"), "shpo", new String[] {"a", "b"}).nearMisses())
        .extracting(NearMiss::message)
        .containsExactly("domain `shpo` is nearly `shop`");
  }

  @Test
  void saysHowTheValuesOfAWildcardShareCounters() {
    PolicyBook loaded =
        Loading.book(
            """
            domain: d
            descriptors:
              - {key: one, value: a*, share_threshold: true, rate_limit: {requests_per_unit: 1, unit: day}}
              - {key: each, value: a*, rate_limit: {requests_per_unit: 1, unit: day}}
              - {key: flight, value: a*, concurrency: {}}
              - {key: envoy, value: a*, concurrency: {gate: envoy, cluster: c}}
              - {key: free, value: a*, rate_limit: {unlimited: true}}
              - {key: plain, rate_limit: {requests_per_unit: 1, unit: day}}
            """);
    assertThat(lastLine(loaded, "one")).endsWith(":5), one counter for all matched values");
    assertThat(lastLine(loaded, "each")).endsWith(":5), one counter per matched value");
    assertThat(lastLine(loaded, "flight")).endsWith(":5), one limit per matched value");
    for (String key : List.of("envoy", "free", "plain")) {
      assertThat(lastLine(loaded, key)).endsWith(":5)");
    }
  }

  private static String lastLine(PolicyBook book, String key) {
    return new Explainer().explain(book, "d", new String[] {key, "ab"}).lines().getLast();
  }

  @Test
  void describesEveryFieldOfARule() {
    PolicyBook loaded =
        Loading.book(
            """
            domain: d
            descriptors:
              - key: a
                quota_mode: true
                rate_limit:
                  {requests_per_unit: 10, every: 1m30s, algorithm: gcra, burst: 3, overdraft: true, on_outage: deny}
              - key: b
                limits: [{requests_per_unit: 5, every: 250ms}, {requests_per_unit: 9, unit: day}]
            """);
    assertThat(loaded.rules().getFirst().inWords())
        .isEqualTo("10 per 1m30s (gcra, burst 3), in quota mode, with overdraft, on outage deny");
    assertThat(loaded.rules().getLast().inWords())
        .isEqualTo("5 per 250ms (fixed_window) and 9 per day (fixed_window)");
  }

  @Test
  void describesTierAndOutageModes() {
    assertThat(inWords("tier: cached_deny, algorithm: gcra, on_data_loss: deny"))
        .isEqualTo("99 per day (gcra, burst 99), with cached denials, on data loss deny");
    assertThat(inWords("tier: leased, on_outage: local"))
        .isEqualTo("99 per day (fixed_window), leased in adaptive batches, on outage local");
    assertThat(inWords("tier: leased, lease: {size: predictive, return_idle_after: 0}"))
        .isEqualTo("99 per day (fixed_window), leased in predictive batches (never returned)");
    assertThat(
            inWords(
                "tier: leased, lease: {size: 9, window_coupled: no, low_water: 3,"
                    + " return_idle_after: 90s}"))
        .isEqualTo(
            "99 per day (fixed_window), leased in batches of 9"
                + " (carried over, renewed at 3 left, returned after 1m30s idle)");
    assertThat(inWords("tier: strict, on_outage: error, on_data_loss: refill"))
        .isEqualTo("99 per day (fixed_window)");
  }

  private static String inWords(String more) {
    String limit = "{requests_per_unit: 99, unit: day, " + more + "}";
    return Loading.onlyRule("domain: d\ndescriptors: [{key: k, rate_limit: " + limit + "}]\n")
        .inWords();
  }

  @Test
  void distinguishesExactWildcardAndUnlimited() {
    assertThat(explain("user", "premium", "path", "/").steps().getFirst())
        .hasToString("entry 1 user=premium: exactly `user_premium` (shop.yaml:10:5)");
    assertThat(explain("file", "food").steps().getFirst())
        .hasToString("entry 1 file=food: wildcard `file_foo*` (shop.yaml:20:5)");
    assertThat(explain("tenant", "t").summary())
        .isEqualTo("rule `tenant` at shop.yaml:30:5: unlimited");
  }

  @Test
  void namesTheEntriesThatAreMissing() {
    Explanation explanation = explain("user", "premium");

    assertThat(explanation.summary())
        .isEqualTo("no rule: `user_premium` (shop.yaml:10:5) states no limit");
    assertThat(explanation.nearMisses())
        .containsExactly(
            new NearMiss(
                Kind.MORE_ENTRIES,
                "rule `user_premium.path` at shop.yaml:12:5 needs one more entry: path"),
            new NearMiss(
                Kind.MORE_ENTRIES,
                "rule `user_premium.path.method` at shop.yaml:14:5 needs 2 more entries:"
                    + " path, method"));
  }

  @Test
  void suggestsKeysValuesAndDomainsOfAnotherCase() {
    assertThat(misses("User", "bob"))
        .contains("key `User` differs only in case from `user` (shop.yaml:3:5)");
    assertThat(misses("plan", "Gold"))
        .containsExactly("value `Gold` differs only in case from `gold` (shop.yaml:25:5)");
    Explanation domain = new Explainer().explain(book, "D", new String[] {"user", "bob"});
    assertThat(domain.lines())
        .containsExactly(
            "no rule: no policy names the domain `D`, so that nothing limits it",
            "  near miss: domain `D` differs only in case from `d`");
  }

  @Test
  void suggestsPatternsAndValuesOfTheSameKey() {
    Explanation explanation = explain("file", "fo");
    assertThat(explanation.summary()).isEqualTo("no rule: entry 1 file=fo, and nothing matches it");
    assertThat(explanation.nearMisses())
        .extracting(NearMiss::toString)
        .containsExactly("value `fo` is not matched by pattern `foo*` (shop.yaml:20:5)");
    assertThat(misses("plan", "silver"))
        .containsExactly("key `plan` has no default; `gold` is stated at shop.yaml:25:5");
  }

  @Test
  void namesTheLikeliestNearMissFirst() {
    PolicyBook book =
        Descriptors.book(
            "d",
            Descriptors.key("plan").value("gold").line(1).limit(1).of(),
            Descriptors.key("Plan").line(2).limit(1).of());

    assertThat(misses(book, "plan", "silver"))
        .containsExactly(
            "key `plan` differs only in case from `Plan` (shop.yaml:2:5)",
            "key `plan` has no default; `gold` is stated at shop.yaml:1:5");
  }

  @Test
  void reportsAnotherOrderAndSurplusEntries() {
    assertThat(misses("path", "/", "user", "bob"))
        .containsExactly(
            "the same entries in another order match rule `user.path` at shop.yaml:5:5:"
                + " user=bob, path=/");
    Explanation tooMany = explain("plan", "gold", "zone", "eu");
    assertThat(tooMany.summary())
        .isEqualTo(
            "no rule: entry 2 zone=eu, and there is nothing below `plan_gold` (shop.yaml:25:5)");
    assertThat(tooMany.nearMisses())
        .extracting(NearMiss::toString)
        .containsExactly("without entry 2 zone=eu, rule `plan_gold` at shop.yaml:25:5 matches");
  }

  @Test
  void reportsARuleHiddenByAMoreSpecificDescriptor() {
    PolicyBook hiding =
        book(
            "d",
            key("user").line(3).of(key("path").line(5).limit(1).of()),
            key("user").value("bob").line(8).of(key("method").line(9).limit(1).of()));

    assertThat(misses(hiding, "user", "bob", "path", "/"))
        .containsExactly(
            "the entries also fit rule `user.path` at shop.yaml:5:5, but a more specific"
                + " descriptor is found first");
  }

  @Test
  void reportsEmptyDescriptorsAndMissingLimits() {
    assertThat(explain().summary()).isEqualTo("no rule: the descriptor has no entries");
    assertThat(explain("tenant", "t", "op", "x").summary()).endsWith(" states no limit");
    assertThatThrownBy(() -> explain("user")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void agreesWithTheMatcherOnEveryRandomRequestOfSeed5() {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(5);
    RandomPolicies policies = new RandomPolicies(random);
    for (int p = 0; p < 500; p++) {
      RandomPolicies.Policy policy = policies.policy("d");
      PolicyBook randomBook = PolicyBook.of(Map.of("d", policy.descriptors()));
      for (int r = 0; r < 10; r++) {
        String[] entries = policies.request(policy);
        Explanation explanation = new Explainer().explain(randomBook, "d", entries);
        Rule rule = Descriptors.match(randomBook, entries);
        assertThat(explanation.rule()).isSameAs(rule);
        assertThat(explanation.summary().startsWith("rule ")).isEqualTo(rule != null);
        List<String> branches =
            explanation.steps().stream().map(step -> step.matchedBy().name()).toList();
        assertThat(ReferenceMatcher.match(policy, entries).branches().toString())
            .startsWith(branches.toString().replace("]", ""));
      }
    }
  }

  private List<String> misses(String... entries) {
    return misses(book, entries);
  }

  private static List<String> misses(PolicyBook book, String... entries) {
    return new Explainer()
        .explain(book, "d", entries).nearMisses().stream().map(NearMiss::toString).toList();
  }

  private Explanation explain(String... entries) {
    return new Explainer().explain(book, "d", entries);
  }
}
