package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Leases are sent in Envoy's dynamic metadata, and released when streams are done or logged. */
@MeshTest
class EnvoyLeasesTest {

  private static final String POLICY =
      """
      domain: costs-and-refunds
      descriptors:
        - key: upstream
          concurrency: {min: 1, max: 1, lease: {ttl: 10m} MORE}
        - key: user
          rate_limit: {requests_per_unit: 3, every: 365000d}
      """;
  private static final String RATE_LIMITS =
      """
      - actions:
          - generic_key: {descriptor_key: upstream, descriptor_value: up}
      - actions:
          - request_headers: {header_name: x-user, descriptor_key: user}
      - apply_on_stream_done: true
        actions:
          - generic_key: {descriptor_key: upstream, descriptor_value: up}
          - metadata:
              descriptor_key: throttlekit_lease
              source: DYNAMIC
              metadata_key: {key: envoy.filters.http.ratelimit, path: [{key: lease}]}
      """
          + report("throttlekit_response_code", "%RESPONSE_CODE%")
          + report("throttlekit_latency_us", "%COMMON_DURATION(US_TX_END:US_RX_END:us)%")
          + report("throttlekit_grpc_status", "%GRPC_STATUS_NUMBER%");

  private static final Changes ONE_FOR_LONG =
      Changes.policy(policy ->
          policy
              .replace("min: 4", "min: 1")
              .replace("max: 200", "max: 1")
              .replace("ttl: 30s", "ttl: 10m"));

  @TempDir Path folder;
  private Changes changes = Changes.NONE;

  @BeforeEach
  void addLeasesToExample() {
    changes = changes("");
  }

  @Test
  void areReleasedWhenTheStreamIsDone() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.COSTS_AND_REFUNDS, changes)) {
      for (int i = 1; i <= 5; i++) {
        assertThat(mesh.status("/export")).isEqualTo(200);
        awaitMetric(mesh, "throttlekit_concurrency_released_total{by=\"stream_done\"}", i);
      }
      awaitMetric(mesh, "throttlekit_concurrency_in_flight", 0);
      assertThat(metric(mesh, "throttlekit_concurrency_stale_releases_total")).isZero();
      awaitMetric(mesh, "throttlekit_concurrency_reported_ends_total{kind=\"answered\"}", 5);

      // a gRPC call that the upstream answers without a status, so that Envoy infers UNKNOWN
      assertThat(mesh.status("/export", "content-type", "application/grpc")).isEqualTo(200);
      awaitMetric(mesh, "throttlekit_concurrency_reported_ends_total{kind=\"failed\"}", 1);
    }
  }

  @Test
  void areReleasedWhenTheClientDisconnectsDuringTheRequest() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.COSTS_AND_REFUNDS, changes)) {
      try (Socket _ = mesh.sent("/export?hold")) {
        await().until(() -> mesh.upstream().requests() == 1);
        awaitMetric(mesh, "throttlekit_concurrency_in_flight", 1);
        assertThat(mesh.status("/export")).as("one is in flight").isEqualTo(429);
      }
      awaitMetric(mesh, "throttlekit_concurrency_released_total{by=\"stream_done\"}", 1);
      awaitMetric(mesh, "throttlekit_concurrency_in_flight", 0);
      mesh.upstream().letGo();
      assertThat(mesh.status("/export")).isEqualTo(200);
    }
  }

  @Test
  void areNotHeldByRequestsThatAnotherRuleRefuses() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.COSTS_AND_REFUNDS, changes)) {
      for (int i = 1; i <= 3; i++) {
        assertThat(mesh.status("/export", "x-user", "anna")).isEqualTo(200);
        awaitMetric(mesh, "throttlekit_concurrency_released_total{by=\"stream_done\"}", i);
      }
      assertThat(mesh.admitted(5, "/export", "x-user", "anna")).isZero();
      awaitMetric(mesh, "throttlekit_concurrency_in_flight", 0);
      awaitMetric(mesh, "throttlekit_concurrency_released_total{by=\"refused\"}", 5);
      assertThat(mesh.status("/export", "x-user", "bert")).isEqualTo(200);
      awaitMetric(mesh, "throttlekit_concurrency_released_total{by=\"stream_done\"}", 4);
      assertThat(metric(mesh, "throttlekit_concurrency_stale_releases_total"))
          .as("a denial names no lease, so its stream releases none")
          .isZero();
    }
  }

  @Test
  void areNotHeldByAClientThatDisconnectsDuringTheCall() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.COSTS_AND_REFUNDS, changes(", queue: {}"))) {
      try (Socket _ = mesh.sent("/export?hold")) {
        await().until(() -> mesh.upstream().requests() == 1);
        awaitMetric(mesh, "throttlekit_concurrency_in_flight", 1);
        try (Socket _ = mesh.sent("/export")) {
          awaitMetric(mesh, "throttlekit_concurrency_queued", 1);
        }
        awaitMetric(mesh, "throttlekit_concurrency_queued", 0);
      }
      awaitMetric(mesh, "throttlekit_concurrency_in_flight", 0);
      mesh.upstream().letGo();
      assertThat(metric(mesh, "throttlekit_concurrency_leases_total")).isEqualTo(1);
      assertThat(mesh.status("/export")).isEqualTo(200);
    }
  }

  @Test
  void areReleasedByTheAccessLogEntryAlone() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.CONCURRENCY_LEASES, ONE_FOR_LONG)) {
      for (int i = 1; i <= 5; i++) {
        assertThat(mesh.status("/")).isEqualTo(200);
        awaitMetric(mesh, "throttlekit_concurrency_released_total{by=\"access_log\"}", i);
      }
      try (Socket _ = mesh.sent("/?hold")) {
        await().until(() -> mesh.upstream().requests() == 6);
        assertThat(mesh.status("/")).as("one is in flight").isEqualTo(429);
      }
      awaitMetric(mesh, "throttlekit_concurrency_released_total{by=\"access_log\"}", 6);
      mesh.upstream().letGo();
      awaitMetric(mesh, "throttlekit_concurrency_in_flight", 0);
      assertThat(metric(mesh, "throttlekit_concurrency_leases_total")).isEqualTo(6);
      assertThat(metric(mesh, "throttlekit_concurrency_stale_releases_total")).isZero();
    }
  }

  @Test
  void areHeldByAnIdleUploadUntilEnvoyEndsIt() throws IOException {
    Changes timeout =
        new Changes(
            ONE_FOR_LONG.policy(),
            bootstrap ->
                bootstrap.replaceFirst(
                    "( +)stat_prefix: http\n", "$0$1request_timeout: 5s # of the whole request\n"),
            Map.of());
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.CONCURRENCY_LEASES, timeout);
        Socket idle = mesh.sent("/?hold", "content-length", "9")) {
      awaitMetric(mesh, "throttlekit_concurrency_leases_total", 1);
      assertThat(new String(idle.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 408");
      awaitMetric(mesh, "throttlekit_concurrency_released_total{by=\"access_log\"}", 1);
      awaitMetric(mesh, "throttlekit_concurrency_in_flight", 0);
      assertThat(mesh.status("/")).isEqualTo(200);
    }
  }

  @Test
  void areHeldByAnIdleUploadUntilTheirTtl() throws IOException {
    Changes brief =
        Changes.policy(policy ->
            policy
                .replace("min: 4", "min: 1")
                .replace("max: 200", "max: 1")
                .replace("ttl: 30s", "ttl: 5s"));
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.CONCURRENCY_LEASES, brief);
        Socket _ = mesh.sent("/?hold", "content-length", "9")) {
      awaitMetric(mesh, "throttlekit_concurrency_released_total{by=\"expired\"}", 1);
      awaitMetric(mesh, "throttlekit_concurrency_in_flight", 0);
      assertThat(mesh.status("/")).as("beside the idle one").isEqualTo(200);
    }
  }

  @Test
  void areNotReleasedWithoutTheAccessLog() throws IOException {
    Changes unlogged =
        new Changes(
            ONE_FOR_LONG.policy(),
            bootstrap -> bootstrap.replaceFirst("(?s) +access_log:\n.*?( +route_config:)", "$1"),
            Map.of());
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.CONCURRENCY_LEASES, unlogged)) {
      assertThat(mesh.status("/")).isEqualTo(200);
      assertThat(mesh.status("/")).isEqualTo(429);
      awaitMetric(mesh, "throttlekit_concurrency_live_leases", 1);
    }
  }

  /**
   * Returns the action of a report, whose descriptor Envoy drops if {@code format} has no value.
   */
  private static String report(String key, String format) {
    return """
    - apply_on_stream_done: true
      hits_addend: {format: "FORMAT"}
      actions:
        - metadata:
            descriptor_key: KEY
            source: DYNAMIC
            metadata_key: {key: envoy.filters.http.ratelimit, path: [{key: lease}]}
    """
        .replace("KEY", key)
        .replace("FORMAT", format);
  }

  private static Changes changes(String more) {
    return new Changes(
        _ -> POLICY.replace(" MORE", more),
        bootstrap ->
            bootstrap.replaceFirst(
                "(?s)(match: \\{)path: (/export\\}.*?)( +)rate_limits:\n"
                    + ".*?( +- match: \\{path: /estimate)",
                "$1path: $2$3rate_limits:\n"
                    + Matcher.quoteReplacement(RATE_LIMITS.indent(32))
                    + "$4"),
        Map.of());
  }

  private static void awaitMetric(Mesh mesh, String name, long value) {
    await().until(() -> metric(mesh, name) == value);
  }

  /** Returns the value of a metric, by its name or its beginning and labels. */
  private static long metric(Mesh mesh, String name) throws IOException {
    Matcher line =
        Pattern.compile("(?m)^" + Pattern.quote(name) + "(?:\\{[^}]*})? ([0-9.E]+)$")
            .matcher(mesh.metrics());
    return line.find() ? (long) Double.parseDouble(line.group(1)) : 0;
  }
}
