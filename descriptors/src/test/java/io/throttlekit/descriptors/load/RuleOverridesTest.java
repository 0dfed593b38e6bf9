package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.PolicyTree;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.YamlNode;
import io.throttlekit.descriptors.source.YamlTree;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RuleOverridesTest {
  private static final String LIMIT = "rate_limit: {unit: hour, requests_per_unit: 5}";

  private static RuleOverrides.Reading read(String text) {
    return RuleOverrides.read(new PolicySource("o.yaml", text), new LoadOptions(true));
  }

  private static List<String> problems(String text) {
    return read(text).problems().stream().map(Problem::toString).toList();
  }

  private static RuleOverrides overrides(String text) {
    RuleOverrides.Reading reading = read(text);
    assertThat(reading.problems()).isEmpty();
    return Objects.requireNonNull(reading.overrides());
  }

  /** Returns the rule of the descriptor {@code k=v} of a domain with the overrides. */
  private static Rule rule(String domain, String descriptor, String overrides) {
    Problems problems = new Problems();
    YamlNode.Mapping written =
        (YamlNode.Mapping)
            Objects.requireNonNull(YamlTree.read(new PolicySource("d.yaml", descriptor), problems));
    YamlNode.Mapping effective =
        overrides(overrides).start().apply(domain, List.of("k", "v"), written);
    YamlNode.Mapping root =
        (YamlNode.Mapping)
            Objects.requireNonNull(
                YamlTree.read(
                    new PolicySource("d.yaml", "{domain: d, descriptors: []}"), problems));
    YamlNode list = new YamlNode.Sequence(root.location(), List.of(effective));
    List<YamlNode.Entry> entries =
        List.of(
            root.entries().getFirst(), new YamlNode.Entry(root.entries().getLast().key(), list));
    LoadResult loaded =
        new PolicyLoader(new LoadOptions(true))
            .loadTrees(
                List.of(new PolicyTree("d.yaml", new YamlNode.Mapping(root.location(), entries))));
    PolicyBook book = loaded.book();
    assertThat(book).as("%s", loaded.problems()).isNotNull();
    return Objects.requireNonNull(book).rules().getFirst();
  }

  private static String words(String overrides) {
    return rule("d", "{key: k, value: v, " + LIMIT + "}", overrides).inWords();
  }

  @ParameterizedTest
  @CsvSource({
    "d, k, v, true",
    "'*', '*', '', true",
    "d*, 'k*', '*', true",
    "'*d', '*k', '*v', true",
    "d, k, '', true",
    "e, k, v, false",
    "d, j, v, false",
    "d, k, w, false",
    "d*e, k, v, false",
    "D, k, v, false"
  })
  void aNameMatchesAsAWholeWithAStarForAnyText(
      String domain, String key, String value, boolean matches) {
    String text =
        "overrides: [{domain: '%s', descriptors: [{key: '%s', value: '%s', rate_limit: {tier: leased}}]}]"
            .formatted(domain, key, value);
    assertThat(words(text).contains("leased")).isEqualTo(matches);
  }

  @Test
  void ofTwoThatSetOneKeyTheLaterCounts() {
    String leased = "{domain: d, descriptors: [{key: k, rate_limit: {tier: leased}}]}";
    String strict = "{domain: '*', rate_limit: {tier: strict, on_outage: deny}}";
    assertThat(words("overrides: [" + strict + ", " + leased + "]")).contains("leased", "deny");
    assertThat(words("overrides: [" + leased + ", " + strict + "]")).doesNotContain("leased");
  }

  @Test
  void anInnerOneAddsToTheOuterOne() {
    assertThat(
            words(
                "overrides: [{domain: d, rate_limit: {on_outage: deny}, descriptors: [{key: k,"
                    + " rate_limit: {algorithm: gcra, burst: 2}}]}]"))
        .contains("gcra, burst 2", "deny");
  }

  @Test
  void aLongerPathThanThatOfTheRuleDoesNotMatch() {
    assertThat(
            words(
                "overrides: [{domain: d, descriptors: [{key: k, descriptors: [{key: '*',"
                    + " rate_limit: {tier: leased}}]}]}]"))
        .doesNotContain("leased");
  }

  @Test
  void limitsOfAListHaveTheirAlgorithmEachAndAllElseTogether() {
    Rule rule =
        rule(
            "d",
            "{key: k, value: v, limits: [{unit: hour, requests_per_unit: 5}, {unit: day,"
                + " requests_per_unit: 9}]}",
            "overrides: [{domain: d, rate_limit: {algorithm: gcra, on_outage: deny}}]");
    assertThat(rule.limits()).allMatch(limit -> limit.algorithm().id().equals("gcra"));
    assertThat(rule.inWords()).contains("deny");
  }

  @Test
  void unlimitedRulesAndDescriptorsWithoutALimitHaveNoSettings() {
    String text = "overrides: [{domain: d, rate_limit: {tier: leased}}]";
    assertThat(rule("d", "{key: k, value: v, rate_limit: {unlimited: true}}", text).unlimited())
        .isTrue();
    Problems problems = new Problems();
    RuleOverrides.Application application = overrides(text).start();
    YamlNode.Mapping plain =
        (YamlNode.Mapping)
            Objects.requireNonNull(YamlTree.read(new PolicySource("d.yaml", "{key: k}"), problems));
    assertThat(application.apply("d", List.of("k", ""), plain)).isSameAs(plain);
    application.warnOfUnused(problems);
    assertThat(problems.sorted(Map.of()).stream().map(Problem::toString))
        .containsExactly(
            "o.yaml:1:13: warning: this override has no effect: no rule with a limit matches it"
                + " (compare domain, keys and values with those of /rlconfig)");
  }

  @Test
  void theRefusalOfARuleMayBeSet() {
    Rule rule =
        rule(
            "d",
            "{key: k, value: v, " + LIMIT + ", shadow_mode: true}",
            "overrides: [{domain: d, denied: {body: slow down}, shadow_mode: false}]");
    assertThat(Objects.requireNonNull(rule.denial()).body()).isEqualTo("slow down");
    assertThat(rule.shadow()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "overrides: [{rate_limit: {tier: strict}}] | o.yaml:1:13: error: the override names no"
            + " domain (write domain: NAME, or \"*\" for all)",
        "overrides: [{domain: d, descriptors: [{rate_limit: {tier: strict}}]}] | o.yaml:1:39:"
            + " error: the descriptor has no key (write key: NAME, or \"*\" for all)",
        "overrides: [{domain: d, rate_limit: {requests_per_unit: 1}}] | o.yaml:1:38: error:"
            + " `requests_per_unit` has no meaning in the rate_limit of an override (the control"
            + " plane sends the limit)",
        "overrides: [{domain: d, tier: strict}] | o.yaml:1:25: error: `tier` has no meaning in an"
            + " entry of overrides (it belongs in rate_limit)",
        "overrides: [{domain: d, rate_limit: {tiers: strict}}] | o.yaml:1:38: error: unknown key"
            + " `tiers` in the rate_limit of an override (did you mean tier?)",
        "overrides: [{domain: d, rate_limit: {tier: leased, algorithm: gcra}}] | o.yaml:1:63:"
            + " error: `tier: leased` is for fixed_window only, but the algorithm is gcra (write"
            + " tier: strict or tier: cached_deny, or remove the algorithm)",
        "overrides: [{domain: d, rate_limit: {algorithm: gcra}, descriptors: [{key: k, rate_limit:"
            + " {tier: leased}}]}] | o.yaml:1:49: error: `tier: leased` is for fixed_window only,"
            + " but the algorithm is gcra (write tier: strict or tier: cached_deny, or remove the"
            + " algorithm)",
        "overrides: [{domain: d}] | o.yaml:1:13: warning: this override sets nothing (add"
            + " rate_limit, or remove it)",
        "override: [] | o.yaml:1:1: error: unknown key `override` at the top of a file of overrides"
            + " (did you mean overrides?)",
        "domain: d | o.yaml:1:1: error: `domain` has no meaning at the top of a file of overrides"
            + " (it belongs in an entry of overrides)",
        "'' | o.yaml:1:1: error: the file is empty (begin with overrides:)",
        "[] | o.yaml:1:1: error: a file of overrides is a mapping, but here is a list (begin with"
            + " overrides:)"
      })
  void everyMistakeIsReportedAtItsPlace(String text, String problem) {
    assertThat(problems(text)).containsExactly(problem);
  }
}
