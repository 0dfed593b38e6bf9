package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bytes that are not UTF-8 and long headers of clients, as a real Envoy passes them on. */
@MeshTest
class EnvoyClientBytesTest {
  private static final String RELEASED =
      "throttlekit_concurrency_released_total{by=\"access_log\"}";

  /** Spans are sent to the service, which does not take them. */
  private static final String TRACED =
      "tracing: {provider: {name: envoy.tracers.opentelemetry, typed_config: {"
          + "\"@type\": type.googleapis.com/envoy.config.trace.v3.OpenTelemetryConfig,"
          + " service_name: envoy, grpc_service: {envoy_grpc: {cluster_name: throttlekit}}}}}";

  @TempDir Path folder;

  @Test
  void areCountedInDescriptorsAsOneReplacement() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.REQUEST_HEADERS, Changes.NONE)) {
      assertThat(statuses(mesh, 7, "x-user", "m\u00fcller"))
          .containsExactly(200, 200, 200, 200, 200, 429, 429);
      assertThat(mesh.statusOfBytes("/", "x-user", "m\u00f6ller"))
          .as("other bytes that are not UTF-8 have the same counter")
          .isEqualTo(429);
      assertThat(mesh.statusOfBytes("/", "x-user", "mueller")).isEqualTo(200);
    }
  }

  /** The longest header that Envoy accepts is an entry, too: 60 KiB with all others. */
  @Test
  void areCountedHoweverManyThereAre() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.REQUEST_HEADERS, Changes.NONE)) {
      assertThat(statuses(mesh, 6, "x-user", "\u00ff".repeat(59 << 10)))
          .containsExactly(200, 200, 200, 200, 200, 429);
    }
  }

  /** An Envoy that traces copies the tracestate of its client into the headers of each call. */
  @Test
  void inTraceHeadersAreNoReasonToAdmitARequest() throws IOException {
    Changes traced =
        Changes.bootstrap(bootstrap ->
            bootstrap.replaceFirst("(?m)^( +)(stat_prefix: http)$", "$1$2\n$1" + TRACED));
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.REQUEST_HEADERS, traced)) {
      assertThat(
              statuses(
                  mesh,
                  6,
                  "x-user",
                  "traced",
                  "traceparent",
                  "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                  "tracestate",
                  "k=" + "v".repeat(59 << 10)))
          .containsExactly(200, 200, 200, 200, 200, 429);
    }
  }

  @Test
  void areCountedByExternalAuthorization() throws IOException {
    Changes changes =
        new Changes(
            _ ->
                """
                domain: ext-authz
                descriptors:
                  - {key: user, rate_limit: {requests_per_unit: 2, every: 365000d}}
                """,
            bootstrap -> bootstrap,
            Map.of(
                "THROTTLEKIT_EXT_AUTHZ_DOMAIN", "ext-authz",
                "THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS",
                    "[{entries: [{key: user, header: x-user, default: nobody}]}]"));
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.EXT_AUTHZ, changes)) {
      assertThat(statuses(mesh, 3, "x-user", "m\u00fcller", "x-request-id", "\u00ff"))
          .containsExactly(200, 200, 429);
    }
  }

  @Test
  void inAccessLogsLoseNoEntryAndHoldNoLease() throws IOException {
    Changes four =
        Changes.policy(
            policy -> policy.replace("max: 200", "max: 4").replace("ttl: 30s", "ttl: 10m"));
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.CONCURRENCY_LEASES, four)) {
      assertThat(statuses(mesh, 4, "x-request-id", "\u00ff", "x-forwarded-for", "\u00fe"))
          .containsOnly(200);
      await().until(() -> metric(mesh, RELEASED) == 4);
      await().until(() -> metric(mesh, "throttlekit_concurrency_in_flight") == 0);
      assertThat(statuses(mesh, 4, "x-request-id", "\u00ff")).containsOnly(200);
      await().until(() -> metric(mesh, RELEASED) == 8);
      assertThat(Files.readString(folder.resolve("service.log"))).doesNotContain("Exception");
    }
  }

  private static List<Integer> statuses(Mesh mesh, int requests, String... headers)
      throws IOException {
    List<Integer> statuses = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      statuses.add(mesh.statusOfBytes("/", headers));
    }
    return statuses;
  }

  private static long metric(Mesh mesh, String name) throws IOException {
    Matcher line =
        Pattern.compile("(?m)^" + Pattern.quote(name) + "(?:\\{[^}]*})? ([0-9.E]+)$")
            .matcher(mesh.metrics());
    return line.find() ? (long) Double.parseDouble(line.group(1)) : 0;
  }
}
