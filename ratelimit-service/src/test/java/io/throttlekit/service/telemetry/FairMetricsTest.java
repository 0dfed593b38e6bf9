package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.fairness.FairDecision;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.WeightedFairEscrow;
import io.throttlekit.service.telemetry.fairness.FairMetrics;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FairMetricsTest {
  private static final long WINDOW = 1_000;
  private static final String POLICY =
      """
      domain: d
      descriptors:
        - key: api
          rate_limit:
            unit: second
            requests_per_unit: 100
            fair_share: {tenant: org, weights: {a: 4, b: 2, c: 1}}
        - {key: plain, rate_limit: {unit: second, requests_per_unit: 100}}
      """;

  private final ManualTime time = new ManualTime(0);
  private final Policies policies = Policies.of(POLICY);
  private final MetricsFixture fixture = new MetricsFixture(policies, 100);
  private final FairMetrics metrics =
      new FairMetrics(fixture.telemetry.meter(), policies::book, time, fixture.metrics);

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void borrowedReservedAndRefusedUnitsAreThoseOfThePool() throws IOException {
    SplittableRandom random = new SplittableRandom(26);
    WeightedFairEscrow pool = null;
    for (int i = 0; i < 20_000; i++) {
      int tenant = random.nextInt(4) == 0 ? random.nextInt(12) : random.nextInt(4);
      String[] entries = {"api", "v", "org", "t" + tenant};
      Rule rule = policies.match("d", entries);
      FairTenant charged = Objects.requireNonNull(rule.limits().getFirst().tenant(rule, entries));
      pool = pool == null ? new WeightedFairEscrow(charged.terms()) : pool;
      long cost = 1L + random.nextInt(3);
      FairDecision decision =
          pool.charge(charged.key(), charged.weight(), cost, Overrun.REFUSE, time.wallMillis());
      metrics.decided(rule, entries, cost, decision.decision(), false);
      time.advance(random.nextInt(12));
    }
    var exact = Objects.requireNonNull(pool).figures(time.wallMillis());
    assertThat(value("throttlekit_fair_refused_units_total")).isEqualTo((double) exact.refused());
    assertThat(exact.borrowed()).as("what rounding leaves").isGreaterThan(300);
    assertThat(value("throttlekit_fair_borrowed_units_total"))
        .isBetween(exact.borrowed() * .98, (double) exact.borrowed());
    assertThat(value("throttlekit_fair_reserved_units")).isEqualTo((double) exact.reserved());
  }

  @Test
  void aCostBeyondTheLimitCountsAsTheLimitForTheRank() throws IOException {
    for (int i = 0; i < 10; i++) {
      String[] entries = {"api", "v", "org", "huge" + i};
      Decision refusal = Decision.refuse(100, 100, WINDOW, Decision.NEVER);
      metrics.decided(policies.match("d", entries), entries, 1L << 53, refusal, false);
    }
    for (int i = 0; i <= 200 + 16; i++) { // compared with the shown ones at every 16th request
      decide(Decision.admit(100, 99, WINDOW), "api", "v", "org", "usual");
    }
    assertThat(series("throttlekit_tenant_admitted_units_total"))
        .anyMatch(line -> line.contains("tenant=\"usual\""));
  }

  @Test
  void eachDecisionReachesTheNextListener() throws IOException {
    decide(Decision.admit(100, 99, WINDOW), "plain", "v");
    decide(Decision.admit(100, 99, WINDOW), "api", "v", "org", "a");
    metrics.globalShadow();
    metrics.domainNotFound("nope", 1);
    assertThat(StatsLines.of(fixture.metrics))
        .contains(
            "ratelimit.service.rate_limit.d.plain.total_hits: 1",
            "ratelimit.service.rate_limit.d.api.total_hits: 1",
            "ratelimit.service.global_shadow_mode: 1",
            "ratelimit.service.rate_limit.nope.domain_not_found: 1");
    assertThat(series("throttlekit_tenant_admitted_units_total"))
        .containsExactly(
            "throttlekit_tenant_admitted_units_total{domain=\"d\",rule=\"api\",tenant=\"a\"} 1.0");
  }

  @Test
  void aTenantCannotImitateTheOthersNorPutControlCharactersOnThePage() throws IOException {
    for (int i = 0; i < 9; i++) {
      decide(Decision.admit(100, 99, WINDOW), "api", "v", "org", "a\0\r" + i);
    }
    decide(Decision.admit(100, 99, WINDOW), "api", "v", "org", "other");
    decide(Decision.admit(100, 99, WINDOW), "api", "v", "org", "eleventh");
    String series = "throttlekit_tenant_admitted_units_total{domain=\"d\",rule=\"api\",tenant=";
    assertThat(series(series))
        .hasSize(11)
        .contains(
            series + "\"a\\\\u{0}\\\\u{d}0\"} 1.0",
            series + "\"\\\\other\"} 1.0",
            series + "\"other\"} 1.0");
    assertThat(series("throttlekit_tenant"))
        .allMatch(line -> line.chars().noneMatch(Character::isISOControl));
  }

  @Test
  void refundsAndLooksAreNotCounted() throws IOException {
    String[] entries = {"api", "v", "org", "a"};
    Rule rule = policies.match("d", entries);
    metrics.decided(rule, entries, 0, Decision.refuse(10, 0, WINDOW, WINDOW), false);
    metrics.decided(rule, entries, -5, Decision.admit(10, 5, WINDOW), false);
    assertThat(series("throttlekit_tenant")).isEmpty();
  }

  @Test
  void aReloadKeepsTheCountsOfARuleAndDropsThoseOfARemovedOne() throws IOException {
    decide(Decision.admit(100, 99, WINDOW), "api", "v", "org", "a");
    Rule old = policies.match("d", "api", "v", "org", "a");
    policies.swap(POLICY.replace("a: 4", "a: 5"));
    decide(Decision.admit(100, 98, WINDOW), "api", "v", "org", "a");
    // a request that was matched before the reload
    metrics.decided(
        old, new String[] {"api", "v", "org", "a"}, 1, Decision.admit(100, 97, WINDOW), false);
    assertThat(series("throttlekit_tenant_admitted_units_total"))
        .containsExactly(
            "throttlekit_tenant_admitted_units_total{domain=\"d\",rule=\"api\",tenant=\"a\"} 3.0");
    policies.swap("domain: d\ndescriptors: []\n");
    assertThat(series("throttlekit_fair")).isEmpty();
    assertThat(series("throttlekit_tenant")).isEmpty();
  }

  @Test
  @SuppressWarnings("System.gc")
  void aReplacedPolicyBookIsNotRetained() {
    decide(Decision.admit(100, 99, WINDOW), "api", "v", "org", "a");
    WeakReference<Rule> old = new WeakReference<>(policies.match("d", "api", "v", "org", "a"));
    policies.swap(POLICY);
    decide(Decision.admit(100, 98, WINDOW), "api", "v", "org", "a");
    Awaitility.await()
        .untilAsserted(() -> {
          System.gc();
          assertThat(old.get()).isNull();
        });
  }

  private void decide(Decision decision, String... entries) {
    metrics.decided(policies.match("d", entries), entries, 1, decision, false);
  }

  private double value(String metric) throws IOException {
    String line = series(metric + "{").getFirst();
    return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
  }

  private List<String> series(String prefix) throws IOException {
    return fixture.scraped().stream().filter(line -> line.startsWith(prefix)).toList();
  }
}
