package io.throttlekit.envoy.xds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.envoy.EnvoyWiring;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.testkit.AwaitLimit;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.net.ReservedPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a real Envoy with the example bootstrap, and an upstream that holds its requests. */
@RealEnvoy
class EnvoyLimitTest {
  @TempDir Path folder;
  private final BlockingQueue<Integer> acknowledged = new LinkedBlockingQueue<>();
  private final List<Server> servers = new ArrayList<>();

  /** Port of a server that starts, or restarts, while Envoy runs. */
  private final ReservedPort reserved = ReservedPort.take();

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private HeldUpstream upstream;

  @BeforeEach
  void startUpstream() throws IOException {
    upstream = HeldUpstream.start();
  }

  @AfterEach
  void stop() {
    servers.forEach(Server::shutdownNow);
    client.shutdownNow();
    upstream.close();
    reserved.close();
  }

  @Test
  void appliesTheLastPushedLimitThroughEveryChange() throws Exception {
    int port = reserved.number();
    SteeredLimits limits = serve(port, 1);
    limits.offer("upstream", Priority.DEFAULT, 2);
    try (EnvoyProcess envoy = start(bootstrap(port))) {
      awaitAcknowledged(2);
      assertThat(passOf(5, envoy)).isEqualTo(2);

      List<CompletableFuture<HttpResponse<Void>>> running = admitted(2, envoy);
      limits.offer("upstream", Priority.DEFAULT, 1);
      awaitAcknowledged(1);
      assertThat(send(envoy).get().statusCode()).isEqualTo(503);
      upstream.release();
      assertThat(running).allMatch(request -> request.join().statusCode() == 200);
      awaitIdle(envoy);
      assertThat(passOf(3, envoy)).isEqualTo(1);

      List<String> tokens = limits.tokens();
      servers.removeFirst().shutdownNow().awaitTermination();
      await().until(() -> connected(envoy).contains("connected_state: 0"));
      assertThat(passOf(3, envoy)).isEqualTo(1);

      SteeredLimits other = serve(port, 2);
      other.offer("upstream", Priority.DEFAULT, 3);
      awaitAcknowledged(3);
      assertThat(passOf(5, envoy)).isEqualTo(3);
      assertThat(other.tokens()).isEqualTo(tokens).hasSize(1);
      assertThat(envoy.log()).doesNotContain("[error]");
    }
  }

  @Test
  void anIdleUploadOccupiesAPlaceWhileItsClientIsConnected() throws Exception {
    serve(0, 1).offer("upstream", Priority.DEFAULT, 1);
    try (EnvoyProcess envoy = start(bootstrap(servers.getFirst().getPort()))) {
      awaitAcknowledged(1);
      try (Socket idle = new Socket(InetAddress.getLoopbackAddress(), envoy.port())) {
        byte[] begun =
            "POST / HTTP/1.1\r\nhost: any\r\ncontent-length: 9\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII);
        idle.getOutputStream().write(begun);
        await().until(() -> upstream.held() == 1);
        assertThat(send(envoy).get().statusCode()).isEqualTo(503);
      }
      awaitIdle(envoy);
      upstream.release();
      assertThat(passOf(2, envoy)).isEqualTo(1);
    }
  }

  @Test
  void appliesItsBootstrapWithoutALimitServer() throws Exception {
    int port = reserved.number();
    String four = bootstrap(port).replace("max_requests: 100", "max_requests: 4");
    try (EnvoyProcess envoy = start(four)) {
      assertThat(passOf(6, envoy)).isEqualTo(4);
      serve(port, 2).offer("upstream", Priority.DEFAULT, 2);
      awaitAcknowledged(2);
      assertThat(passOf(4, envoy)).isEqualTo(2);
    }
  }

  @Test
  void revertsToItsBootstrapWhenTheLimitIsWithdrawn() throws Exception {
    SteeredLimits limits = serve(0, 1);
    limits.offer("upstream", Priority.DEFAULT, 0);
    String three =
        bootstrap(servers.getFirst().getPort()).replace("max_requests: 100", "max_requests: 3");
    try (EnvoyProcess envoy = start(three)) {
      await().until(() -> envoy.admin("/runtime").contains("circuit_breakers.upstream"));
      assertThat(passOf(2, envoy)).isZero();
      limits.withdraw("upstream", Priority.DEFAULT);
      await().until(() -> !envoy.admin("/runtime").contains("circuit_breakers.upstream"));
      assertThat(passOf(4, envoy)).isEqualTo(3);
    }
  }

  @Test
  void appliesALimitOverDelta() throws Exception {
    int port = reserved.number();
    SteeredLimits limits = serve(port, 1);
    limits.offer("upstream", Priority.DEFAULT, 2);
    String delta = bootstrap(port).replace("api_type: GRPC", "api_type: DELTA_GRPC");
    try (EnvoyProcess envoy = start(delta)) {
      awaitAcknowledged(2);
      assertThat(passOf(3, envoy)).isEqualTo(2);

      List<String> tokens = limits.tokens();
      servers.removeFirst().shutdownNow().awaitTermination();
      SteeredLimits other = serve(port, 2);
      other.offer("upstream", Priority.DEFAULT, 3);
      awaitAcknowledged(3);
      assertThat(other.tokens()).isEqualTo(tokens).hasSize(1);
    }
  }

  @Test
  void appliesALimitOverADedicatedStreamBesideAnotherControlPlane() throws Exception {
    serve(0, 1).offer("upstream", Priority.DEFAULT, 2);
    String alone =
        bootstrap(servers.getFirst().getPort())
            .replace(
                "ads: {}",
                "api_config_source: {api_type: GRPC, transport_api_version: V3,"
                    + " grpc_services: [{envoy_grpc: {cluster_name: throttlekit}}]}")
            .replaceFirst("(?s)dynamic_resources:.*?layered_runtime:", "layered_runtime:");
    try (EnvoyProcess envoy = start(alone)) {
      awaitAcknowledged(2);
      assertThat(passOf(3, envoy)).isEqualTo(2);
    }
  }

  private SteeredLimits serve(int port, long epoch) throws IOException {
    SteeredLimits limits = new SteeredLimits(epoch, acknowledged::add);
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .directExecutor();
    limits.services().forEach(builder::addService);
    builder.addService(new HealthStatusManager().getHealthService());
    servers.add(builder.build().start());
    return limits;
  }

  private String bootstrap(int servicePort) {
    return EnvoyExample.CONCURRENCY_LIMIT.bootstrap(
        EnvoyWiring.anyPorts(servicePort, upstream.port(), AwaitLimit.LIMIT));
  }

  private EnvoyProcess start(String bootstrap) throws IOException {
    return EnvoyProcess.start(EnvoyProgram.path(), bootstrap, folder);
  }

  private void awaitAcknowledged(int requests) {
    await().until(() -> acknowledged.contains(requests));
    acknowledged.clear();
  }

  private static String connected(EnvoyProcess envoy) throws IOException {
    return envoy.admin("/stats?filter=control_plane.connected_state");
  }

  /** Returns how many of concurrent requests reach the upstream; the others get 503. */
  private int passOf(int requests, EnvoyProcess envoy) throws Exception {
    int passed = 0;
    for (int i = 0; i < requests; i++) { // one by one: two workers may each admit one too many
      int before = upstream.held();
      var request = send(envoy);
      await().until(() -> request.isDone() || upstream.held() > before);
      passed += request.isDone() ? 0 : 1;
      assertThat(request.isDone() ? request.get().statusCode() : 503).isEqualTo(503);
    }
    assertThat(upstream.held()).isEqualTo(passed);
    upstream.release();
    awaitIdle(envoy);
    return passed;
  }

  private List<CompletableFuture<HttpResponse<Void>>> admitted(int requests, EnvoyProcess envoy) {
    List<CompletableFuture<HttpResponse<Void>>> sent = new ArrayList<>();
    for (int i = 1; i <= requests; i++) {
      int held = i;
      sent.add(send(envoy));
      await().until(() -> upstream.held() == held);
    }
    return sent;
  }

  private static void awaitIdle(EnvoyProcess envoy) {
    await()
        .until(() ->
            envoy
                .admin("/stats?filter=cluster.upstream.upstream_rq_active")
                .contains("upstream_rq_active: 0"));
  }

  private CompletableFuture<HttpResponse<Void>> send(EnvoyProcess envoy) {
    URI uri = URI.create("http://127.0.0.1:" + envoy.port() + "/");
    return client.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding());
  }
}
