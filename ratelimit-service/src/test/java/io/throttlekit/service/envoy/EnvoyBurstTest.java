package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import io.throttlekit.testkit.AwaitLimit;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Requests that arrive at an Envoy while the service is suspended, which it calls before it has
 * read how many calls a connection may have. Decided ones get 429, because the limit is 0; failed
 * ones get 500.
 */
@MeshTest
class EnvoyBurstTest {
  private static final int DEFAULT_BREAKER = 1_024;

  /** After {@code HTTP/1.1}. */
  private static final int STATUS_AT = 9;

  /** Fewer than arrive at once, however they are divided. */
  private static final int FEW = 100;

  private static final Pattern ACTIVE =
      Pattern.compile("cluster\\.throttlekit\\.upstream_rq_(active|pending_overflow): (\\d+)");

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({"1000, 2048", "1001, 2048", "1001, 1000", "1500, 100", "5000, 2048", "5000, 100"})
  void onlyRefusedCallsFail(int requests, int permitted) throws IOException {
    Changes changes =
        new Changes(
            policy -> policy.replaceFirst("requests_per_unit: 2", "requests_per_unit: 0"),
            bootstrap ->
                denying(requests <= DEFAULT_BREAKER ? bootstrap : withoutBreaker(bootstrap)),
            Map.of(
                "THROTTLEKIT_GRPC_MAX_CONCURRENT_CALLS_PER_CONNECTION",
                Integer.toString(permitted)));
    List<Socket> sent = new ArrayList<>();
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.FAIL_OPEN, changes)) {
      try {
        mesh.service().hang();
        try {
          for (int i = 0; i < requests; i++) {
            sent.add(mesh.sent("/"));
          }
          await().until(() -> calls(mesh) == requests);
        } finally {
          mesh.service().goOn();
        }
        int failed = 0;
        for (Socket each : sent) {
          int status = status(each);
          assertThat(status).isIn(429, 500);
          failed += status == 500 ? 1 : 0;
        }
        assertThat(mesh.status("/")).as("later").isEqualTo(429);
        String metrics = mesh.metrics();
        assertThat(failed).isEqualTo(sum(metrics, "throttlekit_grpc_refused_calls_total"));
        assertThat(sum(metrics, "throttlekit_grpc_closed_connections_total")).isZero();
        // Envoy may divide the calls among workers, and so among connections
        assertThat(failed > 0).isEqualTo(mesh.service().log().contains("a call was refused"));
        if (requests <= permitted) {
          assertThat(failed).isZero();
        }
        if (permitted == FEW) {
          assertThat(failed).isPositive();
        }
      } finally {
        for (Socket each : sent) {
          each.close();
        }
      }
    }
  }

  private static int status(Socket socket) throws IOException {
    socket.setSoTimeout((int) AwaitLimit.LIMIT.toMillis());
    String line =
        new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
            .readLine();
    return Integer.parseInt(
        Objects.requireNonNull(line, "no response").substring(STATUS_AT, STATUS_AT + 3));
  }

  /** Returns the calls that Envoy has begun, on a connection or waiting for one. */
  private static int calls(Mesh mesh) throws IOException {
    Matcher matcher = ACTIVE.matcher(mesh.envoy().admin("/stats?filter=cluster.throttlekit"));
    int calls = 0;
    while (matcher.find()) {
      assertThat(matcher.group()).doesNotMatch(".*overflow: [1-9].*");
      calls += matcher.group(1).equals("active") ? Integer.parseInt(matcher.group(2)) : 0;
    }
    return calls;
  }

  private static int sum(String metrics, String name) {
    Matcher matcher = Pattern.compile("(?m)^" + name + "(?:\\{.*})? (\\S+)").matcher(metrics);
    double sum = 0;
    boolean found = false;
    while (matcher.find()) {
      found = true;
      sum += Double.parseDouble(matcher.group(1));
    }
    assertThat(found).as(name).isTrue();
    return (int) sum;
  }

  private static String denying(String bootstrap) {
    String changed =
        bootstrap
            .replaceFirst("(domain: fail-open\\s+timeout: )\\S+", "$1300s")
            .replaceFirst("failure_mode_deny: false", "failure_mode_deny: true");
    assertThat(changed).contains("timeout: 300s", "deny: true");
    return changed;
  }

  private static String withoutBreaker(String bootstrap) {
    String changed =
        bootstrap
            .replaceFirst(
                "    - name: throttlekit\n",
                """
                    - name: throttlekit
                      circuit_breakers:
                        thresholds:
                          - {max_requests: 100000, max_pending_requests: 100000}
                """)
            .replaceFirst(
                "http2_protocol_options:\n",
                "http2_protocol_options:\n              max_concurrent_streams: 100000\n");
    assertThat(changed).contains("max_requests", "max_concurrent_streams");
    return changed;
  }
}
