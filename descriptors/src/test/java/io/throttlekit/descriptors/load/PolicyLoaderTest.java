package io.throttlekit.descriptors.load;

import static io.throttlekit.descriptors.load.Loading.book;
import static io.throttlekit.descriptors.load.Loading.onlyRule;
import static io.throttlekit.descriptors.load.Loading.problems;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.descriptors.policy.OnOutage;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PolicyLoaderTest {

  @Test
  void anEmptyDocumentAfterTheFirstIsNoProblem() {
    String policy = "domain: d\ndescriptors: [{key: k, rate_limit: {unlimited: true}}]\n";
    for (String end : List.of("---", "---\n", "...\n", "---\n# end\n---\n", "...\n---\n")) {
      assertThat(Loading.problems(policy + end)).as(end).isEmpty();
    }
    for (String second : List.of("---\ndomain: e\n", "--- a", "---\n---\n[]\n", "---\n''\n")) {
      assertThat(Loading.problems(policy + second)).as(second).hasSize(1);
    }
  }

  @Test
  void readsEveryFieldOfARule() {
    Rule rule =
        onlyRule(
            """
            domain: d
            descriptors:
              - key: k
                value: v*
                share_threshold: true
                shadow_mode: yes
                quota_mode: on
                rate_limit:
                  name: first
                  unit: HOUR
                  requests_per_unit: 0x1F
                  overdraft: true
                  on_outage: deny
                  tier: strict
                  scope: region
                  replaces: [{name: second}, {name: third}]
            """);

    assertThat(rule.domain()).isEqualTo("d");
    assertThat(rule.name()).isEqualTo("first");
    assertThat(rule.shadow()).isTrue();
    assertThat(rule.quota()).isTrue();
    assertThat(rule.overdraft()).isTrue();
    assertThat(rule.unlimited()).isFalse();
    assertThat(rule.onOutage()).isEqualTo(OnOutage.DENY);
    assertThat(rule.replaces()).containsExactly("second", "third");
    assertThat(rule.location()).isEqualTo(new SourceLocation("a.yaml", 8, 5));
    Limit limit = rule.limits().getFirst();
    assertThat(limit.algorithm()).isEqualTo(new FixedWindow(31, 3_600_000));
    assertThat(limit.unit()).isEqualTo(LimitUnit.HOUR);
    assertThat(limit.requestsPerUnit()).isEqualTo(31);
    assertThat(rule.chargedEntries(new String[] {"k", "vx"})).containsExactly("k", "v*");
  }

  @Test
  void buildsEachAlgorithm() {
    assertThat(algorithm("requests_per_unit: 5, unit: second"))
        .isEqualTo(new FixedWindow(5, 1_000));
    assertThat(algorithm("requests_per_unit: 5, every: 10s, algorithm: sliding_window"))
        .isEqualTo(new SlidingWindow(5, 10_000));
    assertThat(algorithm("requests_per_unit: 5, every: 1m30s, algorithm: sliding_log"))
        .isEqualTo(new SlidingLog(5, 90_000));
    assertThat(algorithm("requests_per_unit: 5, every: 250ms, algorithm: gcra"))
        .isEqualTo(new Gcra(5, 250));
    assertThat(algorithm("requests_per_unit: 5, unit: day, algorithm: gcra, burst: 2"))
        .isEqualTo(new Gcra(5, 86_400_000, 2));
    assertThat(algorithm("requests_per_unit: 5, unit: day, algorithm: token_bucket, burst: 20"))
        .isEqualTo(new TokenBucket(5, 86_400_000, 20));
  }

  @Test
  void namesTheUnitOfAWindowOfOneUnit() {
    assertThat(limit("requests_per_unit: 5, every: 60s").unit()).isEqualTo(LimitUnit.MINUTE);
    assertThat(limit("requests_per_unit: 5, every: 59s").unit()).isNull();
  }

  @Test
  void readsSeveralLimitsWithTheirRuleBesideThem() {
    Rule rule =
        onlyRule(
            """
            domain: d
            descriptors:
              - key: k
                name: both
                on_outage: local
                overdraft: true
                tier: strict
                limits:
                  - {requests_per_unit: 50, every: 1s}
                  - {requests_per_unit: 10000, unit: day, overdraft: true}
                  - {requests_per_unit: 60, every: 1s, algorithm: gcra}
            """);

    assertThat(rule.limits()).extracting(Limit::requestsPerUnit).containsExactly(50L, 10000L, 60L);
    assertThat(rule.name()).isEqualTo("both");
    assertThat(rule.onOutage()).isEqualTo(OnOutage.LOCAL);
    assertThat(rule.overdraft()).isTrue();
  }

  @Test
  void takesOverdraftFromTheLimitsWhenTheyAgree() {
    assertThat(
            onlyRule(
                    """
                    domain: d
                    descriptors:
                      - key: k
                        limits:
                          - {requests_per_unit: 50, every: 1s, overdraft: true}
                          - {requests_per_unit: 60, unit: day, overdraft: true}
                    """)
                .overdraft())
        .isTrue();
  }

  @Test
  void readsMetadataAsJson() {
    Rule rule =
        onlyRule(
            """
            domain: d
            descriptors:
              - key: k
                rate_limit: {unlimited: true}
                metadata:
                  text: "1"
                  number: 12
                  fraction: 1.5e1
                  huge: 123456789012345678901234567890
                  flag: yes
                  nothing: ~
                  list: [a, {b: 2}]
                  8: eight
            """);

    Map<String, Object> metadata = rule.metadata();
    assertThat(metadata)
        .containsEntry("text", "1")
        .containsEntry("number", 12L)
        .containsEntry("fraction", 15.0)
        .containsEntry("huge", 1.2345678901234568e29)
        .containsEntry("flag", true)
        .containsEntry("list", List.of("a", Map.of("b", 2L)))
        .containsEntry("8", "eight")
        .containsKey("nothing");
    assertThat(rule.unlimited()).isTrue();
    assertThat(rule.limits()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "8080, 8080",
    "true, true",
    "0x1F, 0x1F",
    "1_000, 1_000",
    "2026-11-21, 2026-11-21",
    "'\"1.5\"', 1.5",
    "'''null''', null",
    "!!str 1.5, 1.5",
    "!custom 1.5, 1.5",
    "<<, <<",
    "10.0.0.1, 10.0.0.1"
  })
  void keepsTheTextOfAValueAsWritten(String written, String value) {
    PolicyBook book =
        book("domain: d\ndescriptors:\n  - key: k\n    value: " + written + "\n" + LIMIT);
    assertThat(Loading.match(book, "k", value)).isNotNull();
    assertThat(Loading.match(book, "k", value + "x")).isNull();
  }

  @Test
  void anEmptyOrNullValueIsTheDefaultOfTheKey() {
    for (String value : List.of("", "~", "null", "\"\"")) {
      PolicyBook book =
          book("domain: d\ndescriptors:\n  - key: k\n    value: " + value + "\n" + LIMIT);
      assertThat(Loading.match(book, "k", "anything")).isNotNull();
    }
  }

  @Test
  void mergesMappingsInTheOrderOfTheFile() {
    PolicyBook book =
        book(
            """
            domain: d
            descriptors:
              - &base
                key: base
                rate_limit: &limit {unit: minute, requests_per_unit: 5}
              - <<: *base
                key: own key
              - <<: *base
                key: limit field by field
                rate_limit: {requests_per_unit: 7}
              - key: first of a list wins
                rate_limit:
                  <<: [{requests_per_unit: 1}, {requests_per_unit: 2}, *limit]
              - key: overridden
                <<: *base
                key: overridden
              - key: alias
                rate_limit: *limit
            """);

    assertThat(book.rules())
        .extracting(Rule::path)
        .containsExactly(
            "base",
            "own key",
            "limit field by field",
            "first of a list wins",
            "overridden",
            "alias");
    assertThat(book.rules())
        .extracting(rule -> rule.limits().getFirst().requestsPerUnit())
        .containsExactly(5L, 5L, 7L, 1L, 5L, 5L);
  }

  @Test
  void mergesMetadataInTheOrderOfTheFileAndTheFirstOfAListLast() {
    Rule rule =
        onlyRule(
            """
            domain: d
            descriptors:
              - key: k
                rate_limit: {unlimited: true}
                metadata:
                  <<: [{a: 1, b: 1}, {a: 2, b: 2, c: 2}]
                  b: 3
                  d: 3
            """);
    assertThat(rule.metadata()).isEqualTo(Map.of("a", 1L, "b", 3L, "c", 2L, "d", 3L));
  }

  @Test
  void metadataIsImmutableAtAnyDepth() {
    Map<String, Object> metadata =
        Objects.requireNonNull(
            onlyRule(
                    """
                    domain: d
                    descriptors:
                      - key: k
                        rate_limit: {unlimited: true}
                        metadata: {list: [x], map: {a: b}, <<: {merged: {c: d}}}
                    """)
                .metadata());
    assertThatThrownBy(metadata::clear).isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> ((List<?>) inner(metadata, "list")).clear())
        .isInstanceOf(UnsupportedOperationException.class);
    for (String name : List.of("map", "merged")) {
      assertThatThrownBy(() -> ((Map<?, ?>) inner(metadata, name)).clear())
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }

  private static Object inner(Map<String, Object> metadata, String name) {
    return Objects.requireNonNull(metadata.get(name));
  }

  @Test
  void mergesRepeatedKeysFieldByField() {
    Rule rule =
        onlyRule(
            """
            domain: d
            descriptors:
              - key: k
                rate_limit: {unit: hour, requests_per_unit: 5}
                metadata: {a: 1, b: 1}
                rate_limit: {requests_per_unit: 6}
                metadata: {b: 2}
                rate_limit: {unit: day}
            """);
    assertThat(rule.limits().getFirst().requestsPerUnit()).isEqualTo(6);
    assertThat(rule.limits().getFirst().unit()).isEqualTo(LimitUnit.DAY);
    assertThat(rule.metadata()).isEqualTo(Map.of("a", 1L, "b", 2L));
  }

  @Test
  void aMergeOverridesEarlierKeys() {
    assertThat(limit("requests_per_unit: 5, unit: day, <<: {requests_per_unit: 1}"))
        .extracting(Limit::requestsPerUnit, Limit::unit)
        .containsExactly(1L, LimitUnit.DAY);
  }

  @Test
  void aDomainThatLimitsNothingLoadsWithAWarning() {
    assertThat(problems("domain: d\n"))
        .containsExactly("a.yaml:1:9: warning: domain `d` has no descriptors: nothing is limited");
    assertThat(problems("domain: d\ndescriptors:\n")).hasSize(1);
    assertThat(problems("domain: d\ndescriptors:\n  - key: k\n"))
        .containsExactly("a.yaml:1:9: warning: domain `d` has no rate_limit: nothing is limited");
    assertThat(problems("domain: d\n", "domain: d\ndescriptors:\n  - key: k\n" + LIMIT)).isEmpty();
    assertThat(problems("domain: d\ndescriptors: [{key: k, rate_limit: {unlimited: true}}]\n"))
        .isEmpty();
  }

  @Test
  void listsADomainWithoutDescriptors() {
    PolicyBook book = book("---\n# nothing yet\ndomain: d\ndescriptors:\n", "domain: e\n");
    assertThat(book.domains()).containsExactly("d", "e");
    assertThat(book.rules()).isEmpty();
  }

  @Test
  void loadsNothingFromNoSources() {
    LoadResult result = new PolicyLoader(new LoadOptions(false)).load(List.of());
    assertThat(result.problems()).isEmpty();
    assertThat(result.book()).isNotNull();
  }

  @Test
  void readsTabsAndByteOrderMarksAndWindowsLineEnds() {
    assertThat(
            book("\uFEFFdomain:\td\r\ndescriptors:\r\n  - key: k\t# why\r\n"
                    + LIMIT.replace("\n", "\r\n"))
                .rules())
        .hasSize(1);
  }

  @Test
  void warnsOfUnreachableRules() {
    assertThat(
            problems(
                """
                domain: d
                descriptors:
                  - key: k
                    value: "*"
                    rate_limit: {unit: day, requests_per_unit: 1}
                  - key: k
                    value: a*
                    rate_limit: {unit: day, requests_per_unit: 2}
                """))
        .singleElement()
        .asString()
        .contains("a.yaml:6:", "warning");
  }

  @Test
  void reportsAProblemOfAnAliasedNodeOnce() {
    assertThat(
            problems(
                """
                domain: d
                descriptors:
                  - key: a
                    rate_limit: &bad {unit: dya, requests_per_unit: 1}
                  - key: b
                    rate_limit: *bad
                """))
        .singleElement()
        .asString()
        .startsWith("a.yaml:4:29: error: `dya`");
  }

  private static final String LIMIT = "    rate_limit: {unit: minute, requests_per_unit: 5}\n";

  private static RateAlgorithm<?> algorithm(String fields) {
    return limit(fields).algorithm();
  }

  private static Limit limit(String fields) {
    return onlyRule("domain: d\ndescriptors:\n  - key: k\n    rate_limit: {" + fields + "}\n")
        .limits()
        .getFirst();
  }
}
