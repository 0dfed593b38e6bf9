package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.envoy.filter.FilterActions;
import io.throttlekit.envoy.filter.FilterText;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.net.TcpProxy;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests which replicas a real Envoy ejects with the outlier detection of the generated bootstrap.
 * Health checks and pings wait long, so that outlier detection alone decides.
 */
@RealEnvoy
class EnvoyEjectionTest {
  private static final String POLICY =
      """
      domain: shop
      descriptors:
        - {key: generic_key, value: all, rate_limit: {requests_per_unit: 0, unit: day}}
      """;
  private static final String ENDPOINT =
      "- endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %s}}}";
  private static final String EJECTED = "cluster.throttlekit.outlier_detection.ejections_";
  private static final int AT_A_TIME = 16;
  private static final Pattern FAILED =
      Pattern.compile("throttlekit::127\\.0\\.0\\.1:(\\d+)::health_flags::/failed_outlier_check");

  @TempDir Path folder;
  private final HttpClient client = HttpClient.newHttpClient();

  @Test
  void neverEjectsTheOnlyReplica() throws Exception {
    try (ServiceOfTest service = startService();
        TcpProxy only = TcpProxy.to(service.port());
        EnvoyProcess envoy = start(only)) {
      assertThat(status(envoy)).isEqualTo(429);
      only.hangReplies();
      sendUntil(envoy, EJECTED + "overflow");
      assertThat(ejected(envoy)).isEmpty();
      assertThat(stat(envoy, EJECTED + "enforced_total")).isZero();
      only.goOn();
      assertThat(status(envoy)).isEqualTo(429);
      assertThat(stat(envoy, "cluster.throttlekit.upstream_cx_none_healthy")).isZero();
    }
  }

  @Test
  void ejectsOneOfTwoReplicasAndNeverBoth() throws Exception {
    try (ServiceOfTest service = startService();
        TcpProxy first = TcpProxy.to(service.port());
        TcpProxy second = TcpProxy.to(service.port());
        EnvoyProcess envoy = start(first, second)) {
      second.hangReplies();
      sendUntil(envoy, EJECTED + "enforced_consecutive_local_origin_failure");
      assertThat(ejected(envoy)).containsExactly(second.port());
      assertThat(status(envoy)).as("the other replica answers").isEqualTo(429);

      first.hangReplies();
      sendUntil(envoy, EJECTED + "overflow");
      assertThat(ejected(envoy)).containsExactly(second.port());
    }
  }

  private ServiceOfTest startService() throws IOException {
    return ServiceOfTest.start(Files.writeString(folder.resolve("p.yaml"), POLICY), Map.of());
  }

  /** Starts an Envoy with the generated bootstrap, and waits until all replicas are healthy. */
  private EnvoyProcess start(TcpProxy... replicas) throws IOException {
    var loaded =
        new PolicyLoader(new LoadOptions(true)).load(List.of(new PolicySource("p.yaml", POLICY)));
    FilterActions actions =
        FilterActions.of(Objects.requireNonNull(loaded.book()), "shop", Map.of());
    String endpoints =
        Stream.of(replicas)
            .map(replica -> ENDPOINT.formatted(replica.port()))
            .collect(Collectors.joining("\n" + " ".repeat(14)));
    String bootstrap = new FilterText(List.of(actions)).bootstrap();
    bootstrap = replaced(bootstrap, "port_value: 9901", "port_value: 0");
    bootstrap = replaced(bootstrap, "port_value: 10000", "port_value: 0");
    bootstrap = replaced(bootstrap, "timeout: 0.1s", "timeout: 1s");
    bootstrap = replaced(bootstrap, "{interval: 1s, timeout: 1s,", "{interval: 1s, timeout: 600s,");
    bootstrap =
        replaced(bootstrap, "{interval: 2s, timeout: 2s}", "{interval: 600s, timeout: 600s}");
    bootstrap = replaced(bootstrap, "base_ejection_time: 5s", "base_ejection_time: 300s");
    bootstrap = replaced(bootstrap, ENDPOINT.formatted(8081), endpoints);
    EnvoyProcess envoy = EnvoyProcess.start(EnvoyProgram.path(), bootstrap, folder);
    await()
        .until(() ->
            stat(envoy, "cluster.throttlekit.health_check.success") >= replicas.length
                && stat(envoy, "cluster.throttlekit.membership_healthy") == replicas.length);
    return envoy;
  }

  private static String replaced(String text, String from, String to) {
    assertThat(text).contains(from);
    return text.replace(from, to);
  }

  /**
   * Sends requests until Envoy has counted this, several at a time: each call that is sent ends a
   * row of failures, so that only timeouts without a new call between them are in a row.
   */
  private void sendUntil(EnvoyProcess envoy, String stat) {
    await()
        .until(
            () -> {
              var answers =
                  Stream.generate(() -> client.sendAsync(request(envoy), BodyHandlers.discarding()))
                      .limit(AT_A_TIME)
                      .toList();
              answers.forEach(CompletableFuture::join);
              return stat(envoy, stat);
            },
            counted -> counted > 0);
  }

  private static HttpRequest request(EnvoyProcess envoy) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + envoy.port() + "/")).build();
  }

  private int status(EnvoyProcess envoy) throws Exception {
    return client.send(request(envoy), BodyHandlers.discarding()).statusCode();
  }

  private static List<Integer> ejected(EnvoyProcess envoy) throws IOException {
    return FAILED
        .matcher(envoy.admin("/clusters"))
        .results()
        .map(found -> Integer.parseInt(found.group(1)))
        .toList();
  }

  private static long stat(EnvoyProcess envoy, String name) throws IOException {
    Matcher line =
        Pattern.compile("(?m)^\\Q" + name + "\\E: (\\d+)$").matcher(envoy.admin("/stats"));
    return line.find() ? Long.parseLong(line.group(1)) : 0;
  }
}
