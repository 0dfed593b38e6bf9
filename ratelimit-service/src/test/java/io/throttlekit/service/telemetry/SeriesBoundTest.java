package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.LimitOverride;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.descriptors.policy.Rule;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.Collections;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SeriesBoundTest {
  private static final String DETAILED =
      """
      domain: d
      descriptors:
        - {key: det, detailed_metric: true, rate_limit: {unit: day, requests_per_unit: 10}}
        - {key: v2m, value_to_metric: true, rate_limit: {unit: day, requests_per_unit: 10}}
        - {key: user, rate_limit: {unit: day, requests_per_unit: 10}}
      """;
  private static final int MAX_SERIES = 5;

  private final Policies policies = Policies.of(DETAILED);
  private final MetricsFixture fixture = new MetricsFixture(policies, MAX_SERIES);

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void valuesBeyondTheBoundShareOneSeriesAndAreCounted() throws IOException {
    for (int i = 0; i < 1_000; i++) {
      fixture.admit(1, 10, 9, "d", "det", "v" + i);
    }
    fixture.admit(1, 10, 9, "d", "user", "anna");

    List<String> hits = totalHits();
    assertThat(hits)
        .hasSize(MAX_SERIES + 2)
        .contains(
            "ratelimit_service_rate_limit_total_hits{domain=\"d\",key1=\"det_v0\"} 1",
            "ratelimit_service_rate_limit_total_hits{domain=\"d\",key1=\"other\"} 995",
            "ratelimit_service_rate_limit_total_hits{domain=\"d\",key1=\"user\"} 1");
    assertThat(fixture.scraped()).contains("throttlekit_dropped_series_total 995.0");
  }

  @Test
  void theTwoKindsOfRulesShareTheBound() throws IOException {
    for (int i = 0; i < 100; i++) {
      fixture.admit(1, 10, 9, "d", "det", "v" + i);
      fixture.admit(1, 10, 9, "d", "v2m", "v" + i);
    }

    assertThat(totalHits()).hasSize(MAX_SERIES + 1);
  }

  @Test
  void aNameContainsABoundedNumberOfEntries() {
    List<String> entries = Collections.nCopies(40_000, "k".repeat(1_000));
    SeriesName name = SeriesName.of("d", entries);
    assertThat(name.keys()).hasSize(SeriesName.MAX_KEYS);
    assertThat(name.dotted()).hasSizeLessThan((SeriesName.MAX_LENGTH + 1) * 17);
  }

  @Test
  void overridesOfRequestsAreBoundedToo() throws IOException {
    for (int i = 0; i < 100; i++) {
      String[] entries = {"any" + i, "x"};
      Rule rule = Rule.override("d", entries, new LimitOverride(10, LimitUnit.DAY));
      fixture.metrics.decided(rule, entries, 1, Decision.admit(10, 9, 0), false);
    }

    assertThat(totalHits()).hasSize(MAX_SERIES + 1);
  }

  @Test
  void unknownDomainsBeyondTheBoundAreOther() throws IOException {
    for (int i = 0; i < 100; i++) {
      fixture.metrics.domainNotFound("nope" + i, 1);
    }

    assertThat(fixture.scraped())
        .filteredOn(line -> line.startsWith("ratelimit_service_rate_limit_domain_not_found{domain"))
        .hasSize(MAX_SERIES + 1)
        .contains("ratelimit_service_rate_limit_domain_not_found{domain=\"other\"} 95");
  }

  @Test
  void tenThousandInventedDomainsCreateFewSeries() throws IOException {
    try (MetricsFixture wide = new MetricsFixture(Policies.of(DETAILED), 5_000)) {
      for (int i = 0; i < 10_000; i++) {
        wide.metrics.domainNotFound("nope" + i + "x".repeat(300), 1);
      }
      List<String> page = wide.scraped();
      assertThat(page)
          .filteredOn(line -> line.contains("domain_not_found{"))
          .hasSize(RateLimitMetrics.MAX_UNKNOWN_DOMAINS + 1)
          .contains("ratelimit_service_rate_limit_domain_not_found{domain=\"other\"} 9968");
      assertThat(String.join("\n", page)).hasSizeLessThan(100_000);
    }
  }

  @Test
  void longNamesAddNoMoreToThePageThanShortOnes() throws IOException {
    try (MetricsFixture wide = new MetricsFixture(Policies.of(DETAILED), 1_000)) {
      for (int i = 0; i < 10_000; i++) {
        String[] entries = {i + "k".repeat(300), "v", i + "l".repeat(300), "v"};
        Rule rule = Rule.override("d", entries, new LimitOverride(10, LimitUnit.DAY));
        wide.metrics.decided(rule, entries, 1, Decision.admit(10, 9, 0), false);
      }
      assertThat(String.join("\n", wide.scraped())).hasSizeLessThan(1_000_000);
    }
  }

  @Test
  void theDefaultLimitOfTheSdkDropsNoSeries() throws IOException {
    try (MetricsFixture wide = new MetricsFixture(Policies.of(DETAILED), 5_000)) {
      for (int i = 0; i < 5_000; i++) {
        wide.admit(1, 10, 9, "d", "det", "v" + i);
      }
      assertThat(wide.scraped())
          .filteredOn(line -> line.startsWith("ratelimit_service_rate_limit_total_hits{"))
          .hasSize(5_000);
    }
  }

  @Test
  void longValuesAreTruncated() throws IOException {
    fixture.admit(1, 10, 9, "d", "det", "x".repeat(100_000));

    assertThat(totalHits()).singleElement().asString().hasSizeLessThan(400);
  }

  @Test
  void aReloadKeepsTheCountsOfUnchangedRules() throws IOException {
    fixture.admit(1, 10, 9, "d", "user", "anna");
    policies.swap(DETAILED.replace("requests_per_unit: 10", "requests_per_unit: 20"));
    fixture.admit(1, 20, 18, "d", "user", "anna");

    assertThat(totalHits())
        .containsExactly("ratelimit_service_rate_limit_total_hits{domain=\"d\",key1=\"user\"} 2");
  }

  @Test
  void theSeriesOfARemovedRuleIsCollectedUntilTheNextReload() throws IOException {
    fixture.admit(1, 10, 9, "d", "user", "anna");
    policies.swap("domain: d\ndescriptors: []\n");
    assertThat(totalHits()).hasSize(1);
    policies.swap("domain: d\ndescriptors: []\n");
    assertThat(totalHits()).isEmpty();
  }

  @Test
  void theCountsOfARuleThatWasAwayGoOn() throws IOException {
    fixture.admit(1, 10, 9, "d", "user", "anna");
    Rule old = policies.match("d", "user", "anna");
    policies.swap("domain: d\ndescriptors: []\n");
    String[] entries = {"user", "anna"};
    assertThat(totalHits()).hasSize(1);
    fixture.metrics.decided(old, entries, 1, Decision.admit(10, 8, 0), false); // was in progress
    policies.swap(DETAILED);
    fixture.admit(1, 10, 7, "d", "user", "anna");
    assertThat(totalHits())
        .containsExactly("ratelimit_service_rate_limit_total_hits{domain=\"d\",key1=\"user\"} 3");
  }

  @Test
  @SuppressWarnings("System.gc")
  void aReplacedPolicyBookIsNotRetained() throws IOException {
    fixture.admit(1, 10, 9, "d", "user", "anna");
    WeakReference<Rule> old = new WeakReference<>(policies.match("d", "user", "anna"));
    policies.swap(DETAILED);
    fixture.admit(1, 10, 8, "d", "user", "anna");

    Awaitility.await()
        .untilAsserted(() -> {
          System.gc();
          assertThat(old.get()).isNull();
        });
  }

  @Test
  void aReloadFreesSeriesWhenTheBoundWasReached() throws IOException {
    for (int i = 0; i < 10; i++) {
      fixture.admit(1, 10, 9, "d", "det", "old" + i);
    }
    policies.swap(DETAILED);
    fixture.admit(1, 10, 9, "d", "det", "new");

    assertThat(totalHits())
        .contains("ratelimit_service_rate_limit_total_hits{domain=\"d\",key1=\"det_new\"} 1");
  }

  private List<String> totalHits() throws IOException {
    return fixture.scraped().stream()
        .filter(line -> line.startsWith("ratelimit_service_rate_limit_total_hits{"))
        .toList();
  }
}
