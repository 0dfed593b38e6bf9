package io.throttlekit.service;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.to;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.throttlekit.service.fleet.ServiceJvm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts the process with the environment of the Deployment that Envoy Gateway 1.9.1 renders. */
@Tag("process")
class EnvoyGatewayEnvironmentTest {
  private static final Pattern READY =
      Pattern.compile("ready grpc=\\S+:(\\d+) http=\\S+:(\\d+) debug=\\S+:(\\d+)");

  @TempDir private Path folder;
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void kill() {
    processes.forEach(Process::destroyForcibly);
  }

  @Test
  void startsAndListensWithoutAControlPlaneARedisAndAWritableFolder() throws Exception {
    int metrics = freePort();
    X509Bundle certificate = writeCertificates();
    Path work = Files.createDirectory(folder.resolve("work"));
    Process process = start(environment(metrics), work);
    Matcher ready = READY.matcher(String.valueOf(process.inputReader().readLine()));
    assertThat(ready.matches()).as(Files.readString(folder.resolve("err"))).isTrue();

    assertThat(get(port(ready, 2), "/healthcheck").statusCode()).isEqualTo(200);
    assertThat(get(port(ready, 3), "/rlconfig").statusCode()).isEqualTo(200);
    assertThat(status(port(ready, 1), certificate)).isEqualTo(Status.Code.UNAVAILABLE);
    await()
        .untilAsserted(() ->
            assertThat(get(metrics, "/metrics").body().lines())
                .contains(
                    "ratelimit_service_should_rate_limit_error{err_type=\"service_error\"} 1",
                    "ratelimit_service_total_requests{grpc_method=\"ShouldRateLimit\"} 1"));
    assertThat(process.toHandle().destroy()).isTrue();
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).isZero();
    String log = Files.readString(folder.resolve("err"));
    assertThat(log)
        .contains("GRPC_SERVER_TLS_CA_CERT (clients are verified with GRPC_CLIENT_TLS_CACERT)")
        .doesNotContain("metric mappings")
        .doesNotContain("\tat ");
    try (Stream<Path> written = Files.list(work)) {
      assertThat(written).as("files in the working directory").isEmpty();
    }
  }

  /** Returns the variables, with ports that are free and files of this test. */
  private Map<String, String> environment(int metrics) throws IOException {
    Path mappings =
        Files.writeString(
            folder.resolve("conf.yaml"),
            """
            mappings:
            - {match: ratelimit.service.call.should_rate_limit.*, match_metric_type: counter,
               name: ratelimit_service_should_rate_limit_error, labels: {err_type: $1}}
            - {match: ratelimit_server.*.total_requests, match_metric_type: counter,
               name: ratelimit_service_total_requests, labels: {grpc_method: $1}}
            - {match: ".", match_type: regex, action: drop, name: dropped}
            """);
    Map<String, String> variables = new TreeMap<>();
    variables.put("RUNTIME_ROOT", "/data");
    variables.put("RUNTIME_SUBDIRECTORY", "ratelimit");
    variables.put("RUNTIME_IGNOREDOTFILES", "true");
    variables.put("RUNTIME_WATCH_ROOT", "false");
    variables.put("LOG_LEVEL", "info");
    variables.put("USE_STATSD", "false");
    variables.put("CONFIG_TYPE", "GRPC_XDS_SOTW");
    variables.put("CONFIG_GRPC_XDS_SERVER_URL", "127.0.0.1:1"); // envoy-gateway:18001
    variables.put("CONFIG_GRPC_XDS_NODE_ID", "envoy-ratelimit");
    variables.put("GRPC_SERVER_USE_TLS", "true");
    variables.put("GRPC_SERVER_TLS_CERT", file("tls.crt"));
    variables.put("GRPC_SERVER_TLS_KEY", file("tls.key"));
    variables.put("GRPC_SERVER_TLS_CA_CERT", file("ca.crt"));
    variables.put("CONFIG_GRPC_XDS_SERVER_USE_TLS", "true");
    variables.put("CONFIG_GRPC_XDS_CLIENT_TLS_CERT", file("tls.crt"));
    variables.put("CONFIG_GRPC_XDS_CLIENT_TLS_KEY", file("tls.key"));
    variables.put("CONFIG_GRPC_XDS_SERVER_TLS_CACERT", file("ca.crt"));
    variables.put("FORCE_START_WITHOUT_INITIAL_CONFIG", "true");
    variables.put("REDIS_SOCKET_TYPE", "tcp");
    variables.put("REDIS_URL", "127.0.0.1:1");
    variables.put("USE_PROMETHEUS", "true");
    variables.put("PROMETHEUS_ADDR", ":" + metrics); // :19001
    variables.put("PROMETHEUS_MAPPER_YAML", mappings.toString());
    // Not of Envoy Gateway: the ports are 8080, 8081 and 6070 without them.
    variables.put("PORT", "0");
    variables.put("GRPC_PORT", "0");
    variables.put("DEBUG_PORT", "0");
    return variables;
  }

  private Process start(Map<String, String> environment, Path work) throws IOException {
    List<String> readOnlyRoot = List.of("-Dio.netty.native.workdir=/proc/none");
    Process process = ServiceJvm.serve(environment, readOnlyRoot, work, folder.resolve("err"));
    processes.add(process);
    return process;
  }

  private X509Bundle writeCertificates() throws Exception {
    X509Bundle authority =
        new CertificateBuilder()
            .subject("CN=authority")
            .setIsCertificateAuthority(true)
            .ecp256()
            .buildSelfSigned();
    X509Bundle server =
        new CertificateBuilder()
            .subject("CN=envoy-ratelimit")
            .addSanDnsName("envoy-ratelimit")
            .ecp256()
            .buildIssuedBy(authority);
    Files.writeString(folder.resolve("tls.crt"), server.getCertificatePathPEM());
    Files.writeString(folder.resolve("tls.key"), server.getPrivateKeyPEM());
    Files.writeString(folder.resolve("ca.crt"), authority.getCertificatePEM());
    return authority;
  }

  /** Returns the status of a call without a client certificate. */
  private static Status.Code status(int port, X509Bundle authority) throws IOException {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port)
            .overrideAuthority("envoy-ratelimit")
            .sslContext(
                GrpcSslContexts.forClient().trustManager(authority.getCertificate()).build())
            .build();
    try {
      var _ =
          RateLimitServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(2, TimeUnit.MINUTES)
              .shouldRateLimit(to("shop", entries("k", "v")));
      return Status.Code.OK;
    } catch (StatusRuntimeException e) {
      return e.getStatus().getCode();
    } finally {
      channel.shutdownNow();
    }
  }

  private static HttpResponse<String> get(int port, String path) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
          BodyHandlers.ofString());
    }
  }

  private String file(String name) {
    return folder.resolve(name).toString();
  }

  private static int port(Matcher ready, int group) {
    return Integer.parseInt(ready.group(group));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
