package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.service.rls.CallListener.Failure;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ScrapeTest {
  private static final String OPEN_METRICS = "application/openmetrics-text;version=1.0.0,*/*;q=0.1";
  private static final String POLICIES =
      """
      domain: shop
      descriptors:
        - {key: user, rate_limit: {unit: day, requests_per_unit: 10}}
        - {key: sh, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 1}}
        - key: a
          value: b
          descriptors:
            - key: c
              rate_limit: {unit: day, requests_per_unit: 10}
              descriptors:
                - {key: d, rate_limit: {unit: day, requests_per_unit: 10}}
      """;

  private final MetricsFixture fixture = MetricsFixture.of(POLICIES);

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void namesTheCountersOfARuleLikeTheOriginal() throws IOException {
    fixture.admit(9, 10, 1, "shop", "user", "anna");
    fixture.refuse(3, 10, -2, "shop", "user", "anna");

    assertThat(original(fixture.scraped(), "rate_limit"))
        .containsExactly(
            "# TYPE ratelimit_service_rate_limit_near_limit counter",
            "ratelimit_service_rate_limit_near_limit{domain=\"shop\",key1=\"user\"} 2",
            "# TYPE ratelimit_service_rate_limit_over_limit counter",
            "ratelimit_service_rate_limit_over_limit{domain=\"shop\",key1=\"user\"} 2",
            "# TYPE ratelimit_service_rate_limit_shadow_mode counter",
            "ratelimit_service_rate_limit_shadow_mode{domain=\"shop\",key1=\"user\"} 0",
            "# TYPE ratelimit_service_rate_limit_total_hits counter",
            "ratelimit_service_rate_limit_total_hits{domain=\"shop\",key1=\"user\"} 12",
            "# TYPE ratelimit_service_rate_limit_within_limit counter",
            "ratelimit_service_rate_limit_within_limit{domain=\"shop\",key1=\"user\"} 9");
  }

  /** Values of requests, with {@code detailed_metric}: on all pages and for statsd. */
  @Test
  void aValueCannotForgeALineNorReachATerminal() throws IOException {
    String hostile = "x\nratelimit_forged 7\r\u001b[31m\0\u2028y\"z\\";
    try (MetricsFixture detailed =
        MetricsFixture.of(
            """
            domain: shop
            descriptors:
              - {key: user, detailed_metric: true, rate_limit: {unit: day, requests_per_unit: 10}}
            """)) {
      detailed.admit(1, 10, 9, "shop", "user", hostile);
      detailed.metrics.domainNotFound(hostile, 1);
      String shown = "x\uFFFDratelimit_forged 7\uFFFD\uFFFD[31m\uFFFD\uFFFDy\"z\\";
      String escaped = shown.replace("\\", "\\\\").replace("\"", "\\\"");
      for (String accept : new String[] {null, OPEN_METRICS}) {
        assertThat(detailed.scraped(accept))
            .anySatisfy(line -> assertThat(line).contains("key1=\"user_" + escaped + '"'))
            .anySatisfy(line -> assertThat(line).contains("domain=\"" + escaped + '"'))
            .noneMatch(line -> line.startsWith("ratelimit_forged"))
            .allMatch(line -> line.chars().noneMatch(Character::isISOControl));
      }
      assertThat(StatsLines.of(detailed.metrics))
          .contains("ratelimit.service.rate_limit.shop.user_" + shown + ".total_hits: 1")
          .allMatch(line -> line.chars().noneMatch(Character::isISOControl));
    }
  }

  @Test
  void levelsBelowTheSecondAreSummedInOneSeries() throws IOException {
    fixture.admit(1, 10, 9, "shop", "a", "b", "c", "x");
    fixture.admit(2, 10, 8, "shop", "a", "b", "c", "x", "d", "y");

    assertThat(fixture.scraped())
        .contains(
            "ratelimit_service_rate_limit_total_hits{domain=\"shop\",key1=\"a_b\",key2=\"c\"} 3");
  }

  @Test
  void namesTheCountersOfTheServiceLikeTheOriginal() throws IOException {
    fixture.metrics.failed(Failure.SERVICE);
    fixture.metrics.failed(Failure.STORE);
    fixture.metrics.failed(Failure.STORE);
    fixture.metrics.failed(Failure.CANCELLED);
    fixture.metrics.answered(300_000);
    fixture.metrics.globalShadow();
    fixture.metrics.policiesLoaded(true);
    fixture.metrics.policiesLoaded(false);
    fixture.metrics.domainNotFound("no.pe", 1);

    assertThat(fixture.scraped())
        .contains(
            "ratelimit_service_should_rate_limit_error{err_type=\"service_error\"} 1",
            "ratelimit_service_should_rate_limit_error{err_type=\"redis_error\"} 2",
            "ratelimit_service_total_requests{grpc_method=\"ShouldRateLimit\"} 1",
            "ratelimit_service_global_shadow_mode 1",
            "ratelimit_service_config_load_success 1",
            "ratelimit_service_config_load_error 1",
            "ratelimit_service_rate_limit_domain_not_found{domain=\"no.pe\"} 1",
            "ratelimit_service_rate_limit_no_pe_domain_not_found 1")
        .contains(
            "# TYPE ratelimit_service_response_time_seconds histogram",
            "ratelimit_service_response_time_seconds_bucket{grpc_method=\"ShouldRateLimit\",le=\"2.5E-4\"}"
                + " 0",
            "ratelimit_service_response_time_seconds_bucket{grpc_method=\"ShouldRateLimit\",le=\"5.0E-4\"}"
                + " 1",
            "ratelimit_service_response_time_seconds_bucket{grpc_method=\"ShouldRateLimit\",le=\"0.005\"}"
                + " 1",
            "ratelimit_service_response_time_seconds_count{grpc_method=\"ShouldRateLimit\"} 1",
            "ratelimit_service_response_time_seconds_sum{grpc_method=\"ShouldRateLimit\"} 3.0E-4");
  }

  /** Neither is an error of the service, which envoyproxy/ratelimit's dashboards would count. */
  @Test
  void cancelledRequestsAreCountedApartFromFailures() throws IOException {
    CheckMetrics checks = new CheckMetrics(fixture.telemetry.meter());
    checks.failed(Failure.CANCELLED);
    fixture.metrics.failed(Failure.CANCELLED);

    assertThat(fixture.scraped())
        .contains(
            "throttlekit_ext_authz_failures_total{reason=\"cancelled\"} 1.0",
            "throttlekit_ext_authz_failures_total{reason=\"service\"} 0.0",
            "throttlekit_cancelled_requests_total 1.0")
        .filteredOn(line -> line.startsWith("ratelimit_service_should_rate_limit_error{"))
        .containsExactlyInAnyOrder(
            "ratelimit_service_should_rate_limit_error{err_type=\"service_error\"} 0",
            "ratelimit_service_should_rate_limit_error{err_type=\"redis_error\"} 0");
  }

  @Test
  void exposesJvmMetrics() throws IOException {
    List<String> scraped = fixture.scraped();
    for (String series :
        List.of(
            "jvm_memory_used_bytes{jvm_memory_type=\"heap\"}",
            "jvm_memory_used_bytes{jvm_memory_type=\"non_heap\"}",
            "jvm_memory_committed_bytes{jvm_memory_type=\"heap\"}",
            "jvm_thread_count")) {
      assertThat(scraped)
          .filteredOn(line -> line.startsWith(series + " "))
          .singleElement()
          .satisfies(
              line -> assertThat(Double.parseDouble(line.substring(series.length()))).isPositive());
    }
    for (String counter :
        List.of("throttlekit_jvm_gc_total{", "throttlekit_jvm_gc_time_seconds_total{")) {
      assertThat(scraped).anyMatch(line -> line.startsWith(counter + "jvm_gc_name=\""));
    }
  }

  @Test
  void ourOwnMetricsFollowTheConventionOfPrometheus() throws IOException {
    fixture.admit(1, 10, 9, "shop", "user", "anna");
    fixture.refuse(1, 10, -1, "shop", "user", "anna");
    fixture.refuse(1, 1, -1, "shop", "sh", "anna");
    fixture.admit(-4, 10, 9, "shop", "user", "anna");
    fixture.metrics.policiesLoaded(true);

    assertThat(fixture.scraped())
        .contains(
            "# TYPE throttlekit_decisions_total counter",
            "throttlekit_decisions_total{outcome=\"admitted\"} 1.0",
            "throttlekit_decisions_total{outcome=\"refused\"} 1.0",
            "throttlekit_decisions_total{outcome=\"shadowed\"} 1.0",
            "throttlekit_refunded_hits_total 4.0",
            "throttlekit_counters 7.0",
            "throttlekit_evicted_counters_total 2.0",
            "throttlekit_policy_loaded 1.0",
            "throttlekit_policy_generation 1.0",
            "throttlekit_policy_last_load_ok 1.0",
            "throttlekit_dropped_series_total 0.0");
  }

  @Test
  void noSeriesOfTheOriginalEndsInTotalOrNamesAScope() throws IOException {
    fixture.admit(1, 10, 9, "shop", "user", "anna");
    fixture.metrics.answered(1);

    assertThat(fixture.scraped())
        .filteredOn(line -> line.startsWith("ratelimit_"))
        .isNotEmpty()
        .noneMatch(line -> line.matches("\\w+_total[ {].*") || line.contains("otel_scope"));
  }

  @Test
  void openMetricsHasTheSameNamesAsValuesOfUnknownType() throws IOException {
    fixture.admit(1, 10, 9, "shop", "user", "anna");

    List<String> lines = fixture.scraped(OPEN_METRICS);

    assertThat(lines)
        .contains(
            "# TYPE ratelimit_service_rate_limit_total_hits unknown",
            "ratelimit_service_rate_limit_total_hits{domain=\"shop\",key1=\"user\"} 1.0",
            "# TYPE throttlekit_decisions counter")
        .endsWith("# EOF");
    assertThat(page(OPEN_METRICS)).startsWith("application/openmetrics-text");
    assertThat(page(null)).startsWith("text/plain; version=0.0.4");
  }

  @Test
  void labelValuesAreEscaped() throws IOException {
    fixture.metrics.domainNotFound("a\"b\\c|d", 1);

    assertThat(fixture.scraped())
        .contains("ratelimit_service_rate_limit_domain_not_found{domain=\"a\\\"b\\\\c_d\"} 1");
  }

  @Test
  void aScrapeContainsDecisionsOfEveryThread() throws Exception {
    Decision decision = Decision.admit(10, 9, 0);
    var rule = fixture.policies.match("shop", "user", "anna");
    Thread[] threads = new Thread[4];
    for (int t = 0; t < threads.length; t++) {
      threads[t] =
          Thread.ofPlatform()
              .start(() -> {
                for (int i = 0; i < 10_000; i++) {
                  fixture.metrics.decided(rule, new String[] {"user", "anna"}, 1, decision, false);
                }
              });
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(fixture.scraped())
        .contains(
            "ratelimit_service_rate_limit_total_hits{domain=\"shop\",key1=\"user\"} 40000",
            "throttlekit_decisions_total{outcome=\"admitted\"} 40000.0");
  }

  private String page(@Nullable String accept) throws IOException {
    return Objects.requireNonNull(fixture.telemetry.scrape()).page(accept).contentType();
  }

  private static List<String> original(List<String> lines, String part) {
    return lines.stream().filter(line -> line.contains("ratelimit_service_" + part)).toList();
  }
}
