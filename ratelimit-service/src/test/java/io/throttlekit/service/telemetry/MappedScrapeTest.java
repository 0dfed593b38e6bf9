package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.service.config.TelemetryConfig;
import io.throttlekit.service.rls.CallListener.Failure;
import io.throttlekit.service.telemetry.mapping.MappedMetrics;
import io.throttlekit.service.telemetry.statsd.RedisPoolStatistics;
import io.throttlekit.service.telemetry.statsd.StatsdSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics that a mapping file yields. */
class MappedScrapeTest {
  /** What Envoy Gateway's file has: globs of two lengths, timers, and a drop of all others. */
  private static final String ENVOY_GATEWAY =
      """
      mappings:
      - {match: ratelimit.service.rate_limit.*.*.over_limit, timer_type: histogram,
         name: ratelimit_service_rate_limit_over_limit, labels: {domain: $1, key1: $2}}
      - {match: ratelimit.service.rate_limit.*.*.*.over_limit, timer_type: histogram,
         name: ratelimit_service_rate_limit_over_limit, labels: {domain: $1, key1: $2, key2: $3}}
      - {match: ratelimit.service.call.should_rate_limit.*, match_metric_type: counter,
         name: ratelimit_service_should_rate_limit_error, labels: {err_type: $1}}
      - {match: ratelimit_server.*.total_requests, match_metric_type: counter,
         name: ratelimit_service_total_requests, labels: {grpc_method: $1}}
      - {match: ratelimit_server.*.response_time, timer_type: histogram,
         name: ratelimit_service_response_time_seconds, labels: {grpc_method: $1}}
      - {match: ratelimit.service.config_load_success, match_metric_type: counter,
         name: ratelimit_service_config_load_success}
      - {match: ".", match_type: regex, action: drop, name: dropped}
      """;

  private static final String POLICY =
      """
      domain: shop
      descriptors:
        - {key: user, rate_limit: {unit: day, requests_per_unit: 10}}
        - key: a
          descriptors: [{key: b, rate_limit: {unit: day, requests_per_unit: 10}}]
      """;

  @TempDir private Path folder;
  private final Policies policies = Policies.of(POLICY);
  private @Nullable Telemetry telemetry;

  @AfterEach
  void close() {
    if (telemetry != null) {
      telemetry.close();
    }
  }

  @Test
  void yieldsTheMetricsOfEnvoyGatewaysDashboards() throws IOException {
    RateLimitMetrics metrics = mappedBy(ENVOY_GATEWAY);
    use(metrics);

    List<String> theirs = theirs(null);

    assertThat(theirs.stream().filter(line -> !line.contains("_bucket")))
        .containsExactlyInAnyOrder(
            "ratelimit_service_config_load_success 1",
            "ratelimit_service_rate_limit_over_limit{domain=\"shop\",key1=\"a\",key2=\"b\"} 3",
            "ratelimit_service_rate_limit_over_limit{domain=\"shop\",key1=\"user\"} 2",
            "ratelimit_service_response_time_seconds_count{grpc_method=\"ShouldRateLimit\"} 1",
            "ratelimit_service_response_time_seconds_sum{grpc_method=\"ShouldRateLimit\"} 1.5",
            "ratelimit_service_should_rate_limit_error{err_type=\"redis_error\"} 1",
            "ratelimit_service_total_requests{grpc_method=\"ShouldRateLimit\"} 1");
    assertThat(theirs)
        .contains(
            "ratelimit_service_response_time_seconds_bucket{grpc_method=\"ShouldRateLimit\",le=\"1.0\"}"
                + " 0",
            "ratelimit_service_response_time_seconds_bucket{grpc_method=\"ShouldRateLimit\",le=\"2.5\"}"
                + " 1");
  }

  @Test
  void yieldsTheSameInOpenMetrics() throws IOException {
    RateLimitMetrics metrics = mappedBy(ENVOY_GATEWAY);
    use(metrics);

    assertThat(theirs("application/openmetrics-text"))
        .contains("ratelimit_service_rate_limit_over_limit{domain=\"shop\",key1=\"user\"} 2.0");
  }

  @Test
  void withoutAMappingNamesHaveUnderscoresAndTheTimerIsASummary() throws IOException {
    RateLimitMetrics metrics = mappedBy("mappings: []");
    use(metrics);

    assertThat(theirs(null))
        .contains(
            "ratelimit_service_rate_limit_shop_user_over_limit 2",
            "ratelimit_redis_pool_cx_active 1.0",
            "ratelimit_redis_pool_cx_total 1",
            "ratelimit_server_ShouldRateLimit_response_time{quantile=\"0.5\"} 1.5");
  }

  @Test
  void scalesValues() throws IOException {
    RateLimitMetrics metrics =
        mappedBy(
            "mappings: [{match: ratelimit_server.*.response_time, name: t, scale: 0.001,"
                + " observer_type: histogram, buckets: [1]},"
                + " {match: ratelimit.service.config_load_success, name: t2, scale: 2.5}]");
    use(metrics);

    assertThat(scraped(null)).contains("t_sum 0.0015", "t2 2.5");
  }

  @Test
  void leavesOutWhatWouldHideAnotherMetric() throws IOException {
    RateLimitMetrics metrics =
        mappedBy(
            "mappings: [{match: ratelimit.service.config_load_success, name: throttlekit_counters},"
                + " {match: ratelimit_server.*.total_requests, name: same},"
                + " {match: ratelimit.redis_pool.cx_active, name: same}]");
    use(metrics);

    assertThat(scraped(null)).contains("throttlekit_counters 7.0").contains("same 1");
    assertThat(scraped(null).stream().filter(line -> line.startsWith("same "))).hasSize(1);
  }

  @Test
  void aNameThatOpenMetricsReservesDoesNotBreakTheScrape() throws IOException {
    for (String name : List.of("x_total", "x_created", "x_bucket", "x_info", "_")) {
      RateLimitMetrics metrics =
          mappedBy("mappings: [{match: '.', match_type: regex, name: " + name + "}]");
      use(metrics);
      assertThat(scraped(null)).isNotEmpty();
      assertThat(scraped("application/openmetrics-text")).endsWith("# EOF");
      close();
    }
  }

  @Test
  void twoNamesThatAreOneInOpenMetricsDoNotBreakTheScrape() throws IOException {
    for (String gauge : List.of("x", "x_total")) {
      RateLimitMetrics metrics =
          mappedBy(
              "mappings: [{match: ratelimit.service.config_load_success, name: x_total},"
                  + " {match: ratelimit.redis_pool.cx_active, name: "
                  + gauge
                  + "}, {match: ratelimit_server.*.total_requests, name:"
                  + " throttlekit_counters_total}]");
      use(metrics);
      assertThat(scraped("application/openmetrics-text"))
          .contains("throttlekit_counters 7.0")
          .endsWith("# EOF");
      close();
    }
  }

  @Test
  void aNegativeScaleDoesNotBreakTheScrape() throws IOException {
    RateLimitMetrics metrics =
        mappedBy(
            "mappings: [{match: ratelimit.service.config_load_success, name: x_total, scale: -1}]");
    use(metrics);
    assertThat(scraped("application/openmetrics-text")).endsWith("# EOF");
  }

  @Test
  void aFileThatCannotBeUsedLeavesTheNames() throws IOException {
    Path pipe = folder.resolve("folder");
    Files.createDirectory(pipe);
    Path huge = folder.resolve("huge");
    Files.write(huge, new byte[(1 << 20) + 1]);
    Path broken = Files.writeString(folder.resolve("broken"), "mappings: [");
    for (Path file : List.of(pipe, huge, broken, folder.resolve("none"))) {
      RateLimitMetrics metrics = mapped(file);
      use(metrics);
      assertThat(scraped(null))
          .contains("ratelimit_service_rate_limit_over_limit{domain=\"shop\",key1=\"user\"} 2");
      close();
    }
  }

  private static void decide(RateLimitMetrics metrics, Policies policies, int hits, String... of) {
    var rule = policies.match("shop", of);
    metrics.decided(rule, of, hits, Decision.refuse(10, 0, 0, 1), false);
  }

  private void use(RateLimitMetrics metrics) {
    decide(metrics, policies, 2, "user", "u");
    decide(metrics, policies, 3, "a", "x", "b", "y");
    metrics.failed(Failure.STORE);
    metrics.policiesLoaded(true);
    metrics.answered(1_500_000);
  }

  private RateLimitMetrics mappedBy(String yaml) throws IOException {
    return mapped(Files.writeString(folder.resolve("conf.yaml"), yaml));
  }

  private RateLimitMetrics mapped(Path file) {
    Telemetry started =
        Telemetry.start(
            new TelemetryConfig(
                true,
                false,
                false,
                1,
                "http",
                "",
                "named",
                "info",
                "text",
                0.8,
                10,
                Duration.ZERO,
                "",
                "",
                file,
                null));
    telemetry = started;
    RateLimitMetrics metrics =
        new RateLimitMetrics(started.meter(), policies::book, () -> 7, () -> 2, 0.8, 10_000);
    RedisPoolStatistics pool = new RedisPoolStatistics();
    pool.opened();
    MappedMetrics mapped = Objects.requireNonNull(started.scrape()).mapped();
    if (mapped != null) {
      mapped.show(StatsdSource.of(List.of(metrics, pool)));
      metrics.addResponseTimeListener(mapped::answered);
    }
    return metrics;
  }

  private List<String> theirs(@Nullable String accept) throws IOException {
    return scraped(accept).stream().filter(line -> line.startsWith("ratelimit_")).toList();
  }

  private List<String> scraped(@Nullable String accept) throws IOException {
    Scrape scrape = Objects.requireNonNull(Objects.requireNonNull(telemetry).scrape());
    return scrape.page(accept).body().lines().toList();
  }
}
