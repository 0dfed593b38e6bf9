package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@MeshTest
class EnvoyLimitsTest {
  @TempDir Path folder;

  @Test
  void admitsExactlyTheLimitOfEachUser() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.REQUEST_HEADERS, Changes.NONE)) {
      assertThat(mesh.admitted(8, "/", "x-user", "anna")).isEqualTo(5);
      assertThat(mesh.admitted(60, "/", "x-user", "batch")).isEqualTo(50);
      assertThat(mesh.admitted(6, "/", "x-user", "bert")).isEqualTo(5);
      assertThat(mesh.upstream().requests()).isEqualTo(60);
      assertThat(mesh.admitted(10, "/")).as("without the header").isEqualTo(10);
    }
  }

  @Test
  void limitsTheConnectionsAddressDespiteForgedHeaders() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.REMOTE_ADDRESS, Changes.NONE)) {
      assertThat(mesh.admitted(3, "/", "x-forwarded-for", "198.51.100.7")).isEqualTo(3);
      assertThat(mesh.admitted(3, "/", "x-forwarded-for", "198.51.100.8")).isEqualTo(1);
      assertThat(mesh.status("/")).isEqualTo(429);
    }
  }

  @Test
  void limitsTheAddressReportedByATrustedProxy() throws IOException {
    Changes proxy =
        Changes.bootstrap(
            b -> b.replaceFirst("( +)use_remote_address: true\n", "$0$1xff_num_trusted_hops: 1\n"));
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.REMOTE_ADDRESS, proxy)) {
      assertThat(mesh.admitted(6, "/", "x-forwarded-for", "198.51.100.7")).isEqualTo(4);
      assertThat(mesh.status("/", "x-forwarded-for", "203.0.113.66")).isEqualTo(429);
      assertThat(mesh.status("/", "x-forwarded-for", "203.0.113.66, 198.51.100.8")).isEqualTo(200);
    }
  }

  @Test
  void limitsEverythingTogetherByAGenericKey() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.GENERIC_KEY, Changes.NONE)) {
      HttpResponse<String> first = mesh.get("/a");
      assertThat(first.headers().firstValue("x-limited-by")).isEmpty();
      assertThat(mesh.admitted(9, "/b")).isEqualTo(5);
      assertThat(mesh.get("/c").headers().firstValue("x-limited-by")).contains("throttlekit");
    }
  }

  @Test
  void limitsEachRouteByItsOwnDescriptors() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.PER_ROUTE, Changes.NONE)) {
      assertThat(mesh.admitted(5, "/login", "x-user", "anna")).isEqualTo(3);
      assertThat(mesh.admitted(9, "/login")).as("10 of the address, 3 are used").isEqualTo(7);
      assertThat(mesh.status("/login", "x-user", "bert")).isEqualTo(429);
      assertThat(mesh.admitted(6, "/search", "x-user", "anna")).isEqualTo(4);
      assertThat(mesh.admitted(6, "/search", "x-user", "bert"))
          .as("requests refused to anna were not charged to all searches")
          .isEqualTo(4);
      assertThat(mesh.admitted(2, "/search", "x-user", "carl")).isEqualTo(0);
      assertThat(mesh.admitted(20, "/other")).isEqualTo(20);
    }
  }

  @Test
  void dividesALimitAmongTenantsByTheirPlans() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.FAIR_SHARES, Changes.NONE)) {
      assertThat(mesh.status("/", "x-org", "acme", "x-plan", "gold")).isEqualTo(200);
      assertThat(mesh.status("/", "x-org", "globex", "x-plan", "silver")).isEqualTo(200);
      assertThat(mesh.admitted(60, "/", "x-org", "globex", "x-plan", "silver")).isEqualTo(19);
      assertThat(mesh.admitted(60, "/", "x-org", "acme", "x-plan", "gold")).isEqualTo(39);
      assertThat(mesh.status("/", "x-org", "acme")).as("without a plan").isEqualTo(429);
      assertThat(mesh.status("/")).as("without a tenant").isEqualTo(200);
    }
  }

  @Test
  void chargesCostsAndRefundsOnlyCharges() throws IOException {
    Changes metadata = Changes.NONE.with(Map.of("THROTTLEKIT_RESPONSE_DYNAMIC_METADATA", "true"));
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.COSTS_AND_REFUNDS, metadata)) {
      assertThat(mesh.admitted(4, "/export", "x-user", "anna")).as("5 of 12, each").isEqualTo(2);

      assertThat(mesh.status("/estimate", "x-user", "bert")).isEqualTo(200);
      awaitRemaining(mesh, 10, "user", "bert", "admitted", "yes");
      assertThat(mesh.status("/estimate", "x-user", "bert")).isEqualTo(200);
      awaitRemaining(mesh, 8, "user", "bert", "admitted", "yes");
      assertThat(mesh.status("/export", "x-user", "bert")).isEqualTo(200);
      assertThat(mesh.admitted(10, "/estimate", "x-user", "bert"))
          .as("3 are left, and a refused estimate refunds nothing")
          .isEqualTo(0);
    }
  }

  @Test
  void chargesTheActualCostOfAResponse() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.COSTS_AND_REFUNDS, Changes.NONE)) {
      assertThat(mesh.status("/download", "x-user", "anna")).isEqualTo(200);
      awaitRemaining(mesh, 300, "bytes_of", "anna");
      assertThat(mesh.status("/download", "x-user", "anna")).as("300 are left").isEqualTo(200);
      awaitRemaining(mesh, 0, "bytes_of", "anna");
      assertThat(mesh.admitted(3, "/download", "x-user", "anna")).as("overdrawn").isEqualTo(0);
      assertThat(mesh.status("/download", "x-user", "bert")).isEqualTo(200);
    }
  }

  @Test
  void decidesAHundredDescriptorsAtOnce() throws IOException {
    String actions =
        IntStream.range(0, 100)
            .mapToObj(i ->
                "                              - actions:\n"
                    + "                                  - generic_key: {descriptor_key: k"
                    + i
                    + ", descriptor_value: v}\n")
            .collect(Collectors.joining());
    String rules =
        IntStream.range(0, 100)
            .mapToObj(i ->
                "  - key: k%d\n    rate_limit: {requests_per_unit: %d, %s}\n"
                    .formatted(i, i == 73 ? 2 : 1000, Mesh.ENDLESS))
            .collect(Collectors.joining());
    Changes hundred =
        new Changes(
            _ -> "domain: request-headers\ndescriptors:\n" + rules,
            b -> b.replaceFirst("( +rate_limits:\n)[^$]*?(?= +http_filters:)", "$1" + actions),
            Map.of());
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.REQUEST_HEADERS, hundred)) {
      assertThat(mesh.admitted(5, "/")).isEqualTo(2);
    }
  }

  @Test
  void admitsRequestsOfARuleInShadowMode() throws IOException {
    Changes shadow =
        Changes.policy(p -> p.replace("    rate_limit:", "    shadow_mode: true\n    rate_limit:"));
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.REQUEST_HEADERS, shadow)) {
      assertThat(mesh.admitted(20, "/", "x-user", "anna")).isEqualTo(20);
      assertThat(mesh.stats())
          .contains("ratelimit.service.rate_limit.request-headers.user.total_hits: 20\n")
          .contains("ratelimit.service.rate_limit.request-headers.user.shadow_mode: 15\n");
    }
  }

  private static void awaitRemaining(Mesh mesh, int expected, String... entries) {
    try (Remaining remaining = new Remaining(mesh.servicePort())) {
      await().until(() -> remaining.of("costs-and-refunds", entries) == expected);
    }
  }
}
