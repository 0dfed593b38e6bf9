package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Envoy reports beside each release how the request ended, with the example for ext_authz. */
@MeshTest
class EnvoyStreamReportsTest {

  /** The same route with a timeout before the example's. */
  private static final Changes WITH_A_TIMEOUT =
      Changes.bootstrap(EnvoyStreamReportsTest::withATimeout)
          .with(
              Map.of(
                  "THROTTLEKIT_EXT_AUTHZ_DOMAIN",
                  "ext-authz",
                  "THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS",
                  "[{entries: [{key: upstream, context: upstream}]}]"));

  @TempDir Path folder;

  @Test
  void releasesReportTheEndsOfRequestsOfEveryKind() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.EXT_AUTHZ, WITH_A_TIMEOUT)) {
      assertThat(mesh.status("/")).isEqualTo(200);
      awaitEnd(mesh, "answered", 1);
      assertThat(mesh.status("/?404")).isEqualTo(404);
      awaitEnd(mesh, "answered", 2);
      assertThat(mesh.status("/?503")).isEqualTo(503);
      awaitEnd(mesh, "failed", 1);
      assertThat(mesh.status("/?504")).as("by the upstream").isEqualTo(504);
      awaitEnd(mesh, "failed", 2);
      assertThat(mesh.status("/slow?hold")).isEqualTo(504);
      awaitEnd(mesh, "timed_out", 1);
      int before = mesh.upstream().requests();
      try (Socket _ = mesh.sent("/?hold")) {
        await().until(() -> mesh.upstream().requests() > before);
      }
      awaitEnd(mesh, "no_response", 1);
      try (Socket leaves = mesh.sent("/?part")) {
        assertThat(leaves.getInputStream().read()).as("the response has begun").isPositive();
      }
      awaitEnd(mesh, "unmeasured", 1);

      String page = mesh.metrics();
      assertThat(page)
          .contains(
              "\nthrottlekit_concurrency_live_leases 0.0\n",
              "\nthrottlekit_concurrency_released_total{by=\"stream_done\"} 7.0\n",
              "\nthrottlekit_concurrency_reported_ends_total{kind=\"answered\"} 2.0\n",
              "\nthrottlekit_concurrency_ignored_reports_total{reason=\"no_value\"} 0.0\n",
              "\nthrottlekit_concurrency_ignored_reports_total{reason=\"out_of_range\"} 0.0\n",
              "\nthrottlekit_concurrency_ignored_reports_total{reason=\"too_long\"} 0.0\n",
              "\nthrottlekit_concurrency_ignored_reports_total{reason=\"no_release\"} 0.0\n");
    }
  }

  private static String withATimeout(String bootstrap) {
    Matcher route =
        Pattern.compile(
                "(?s)( +- match: \\{prefix: /)(}\n"
                    + " +route: \\{cluster: upstream, )timeout: 0s(}.*?)(?= +http_filters:)")
            .matcher(bootstrap);
    return route.replaceFirst("$1slow$2timeout: 1s$3$0");
  }

  private static void awaitEnd(Mesh mesh, String kind, int count) {
    String line =
        "\nthrottlekit_concurrency_reported_ends_total{kind=\"%s\"} %d.0\n".formatted(kind, count);
    await().untilAsserted(() -> assertThat(mesh.metrics()).contains(line));
  }
}
