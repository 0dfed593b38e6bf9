package io.throttlekit.service;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.to;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Any;
import com.google.protobuf.TextFormat;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc.AggregatedDiscoveryServiceImplBase;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.ratelimit.RateLimitConfig;
import io.throttlekit.service.rls.AnswerText;
import io.throttlekit.service.server.StartException;
import io.throttlekit.service.xds.ControlPlaneUpdates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A whole service in this process, with the variables that Envoy Gateway sets. */
class PoliciesOverXdsTest {
  private static final Pattern READY =
      Pattern.compile("ready grpc=[^:]+:(\\d+) http=[^:]+:(\\d+) debug=[^:]+:(\\d+).*");
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String GOOD =
      "name: 'shop' domain: 'shop' descriptors { key: 'k' rate_limit { unit: DAY requests_per_unit:"
          + " 5 } }";
  private static final String BAD =
      "name: 'shop' domain: 'shop' descriptors { key: 'k' rate_limit { unit: DAY requests_per_unit:"
          + " 5 } } descriptors { key: 'j' rate_limit { } }";

  private final ControlPlane controlPlane = new ControlPlane();
  private final HttpClient http = HttpClient.newHttpClient();
  private Server server;
  private @Nullable RateLimitService service;
  private @Nullable ManagedChannel channel;
  private int debugPort;
  @TempDir private Path folder;

  /** Answers the first request of a stream with one snapshot. */
  private static final class ControlPlane extends AggregatedDiscoveryServiceImplBase {
    final List<DiscoveryRequest> requests = new CopyOnWriteArrayList<>();
    private final List<StreamObserver<DiscoveryResponse>> streams = new CopyOnWriteArrayList<>();
    private volatile @Nullable DiscoveryResponse snapshot;

    @Override
    public StreamObserver<DiscoveryRequest> streamAggregatedResources(
        StreamObserver<DiscoveryResponse> responses) {
      streams.add(responses);
      return new StreamObserver<>() {
        @Override
        public void onNext(DiscoveryRequest request) {
          requests.add(request);
          DiscoveryResponse current = snapshot;
          if (request.getResponseNonce().isEmpty() && current != null) {
            responses.onNext(current);
          }
        }

        @Override
        public void onError(Throwable cause) {
          streams.remove(responses);
        }

        @Override
        public void onCompleted() {
          streams.remove(responses);
        }
      };
    }

    void send(String version, String... configs) {
      DiscoveryResponse.Builder response =
          DiscoveryResponse.newBuilder()
              .setVersionInfo(version)
              .setNonce("nonce-" + version)
              .setTypeUrl(ControlPlaneUpdates.TYPE_URL);
      for (String config : configs) {
        try {
          response.addResources(Any.pack(TextFormat.parse(config, RateLimitConfig.class)));
        } catch (TextFormat.ParseException e) {
          throw new IllegalArgumentException(e);
        }
      }
      DiscoveryResponse built = response.build();
      snapshot = built;
      streams.forEach(stream -> stream.onNext(built));
    }
  }

  @BeforeEach
  void serve() throws IOException {
    server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(controlPlane)
            .build()
            .start();
  }

  @AfterEach
  void stop() {
    if (channel != null) {
      channel.shutdownNow();
    }
    if (service != null) {
      service.stop();
    }
    server.shutdownNow();
    http.close();
  }

  private Map<String, String> environment() {
    Map<String, String> environment = LoopbackService.environment(folder);
    environment.remove("THROTTLEKIT_POLICIES_PATHS");
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    environment.put("CONFIG_TYPE", "GRPC_XDS_SOTW");
    environment.put("CONFIG_GRPC_XDS_SERVER_URL", "127.0.0.1:" + server.getPort());
    environment.put("CONFIG_GRPC_XDS_NODE_ID", "envoy-ratelimit");
    environment.put("CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL", "20ms");
    environment.put("XDS_CLIENT_BACKOFF_INITIAL_INTERVAL", "20ms");
    environment.put("RUNTIME_ROOT", "/data");
    environment.put("FORCE_START_WITHOUT_INITIAL_CONFIG", "true");
    return environment;
  }

  private RateLimitService start(Map<String, String> environment) {
    RateLimitService started = LoopbackService.of(environment);
    service = started;
    // A start without policies waits for them: not longer than this test.
    assertThat(CompletableFuture.supplyAsync(started::start)).succeedsWithin(LIMIT).isEqualTo(true);
    Matcher ready = READY.matcher(started.readyLine());
    assertThat(ready.matches()).isTrue();
    debugPort = Integer.parseInt(String.valueOf(ready.group(3)));
    int port = Integer.parseInt(String.valueOf(ready.group(1)));
    channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    return started;
  }

  private String ask() {
    return AnswerText.of(
        RateLimitServiceGrpc.newBlockingStub(channel)
            .shouldRateLimit(to("shop", entries("k", "v"))));
  }

  private String page(String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + debugPort + path);
    return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
  }

  @Test
  void itServesBeforeTheFirstPoliciesAndByThemOnceTheyArrive() throws Exception {
    start(environment());
    assertThatExceptionOfType(StatusRuntimeException.class)
        .isThrownBy(this::ask)
        .extracting(e -> e.getStatus().getCode())
        .isEqualTo(Status.Code.UNAVAILABLE);
    await().until(() -> !controlPlane.requests.isEmpty());
    DiscoveryRequest first = controlPlane.requests.getFirst();
    assertThat(first.getNode().getId()).isEqualTo("envoy-ratelimit");
    assertThat(first.getTypeUrl()).isEqualTo(ControlPlaneUpdates.TYPE_URL);
    await()
        .untilAsserted(() ->
            assertThat(page("/rlconfig"))
                .contains(
                    "# control plane: 127.0.0.1:" + server.getPort() + ", connected",
                    "# last load: none\n",
                    "# version: none, received: never, last accepted: never"));

    controlPlane.send("1", GOOD);
    await().until(() -> page("/rlconfig").contains("shop.k: unit=DAY requests_per_unit=5"));
    assertThat(ask()).isEqualTo("OK [OK 5/DAY rem=4]");
    await().until(() -> controlPlane.requests.getLast().getVersionInfo().equals("1"));

    controlPlane.send("2", BAD);
    await().until(() -> controlPlane.requests.getLast().hasErrorDetail());
    assertThat(controlPlane.requests.getLast().getErrorDetail().getMessage())
        .startsWith("1 error: xds shop: j: the limit needs a window");
    assertThat(ask()).isEqualTo("OK [OK 5/DAY rem=3]");
    assertThat(page("/rlconfig"))
        .contains(
            "# rejected: xds shop: j: it has no effect",
            "# last load: failed 1 error",
            "version: 2,");
    assertThat(page("/rlconfig?format=json"))
        .contains("\"rejected_parts\":[\"xds shop: j: it has no effect\"]", "\"connected\":true");
    assertThat(page("/metrics"))
        .contains(
            "throttlekit_xds_connected 1.0",
            "throttlekit_xds_rejected_parts{domain=\"shop\"} 1.0",
            "throttlekit_xds_responses_total{result=\"accepted\"} 1.0",
            "throttlekit_xds_responses_total{result=\"rejected\"} 1.0",
            "throttlekit_xds_version{version=\"2\"} 1.0",
            "ratelimit_service_config_load_success 1",
            "ratelimit_service_config_load_error 1");

    controlPlane.send("3"); // all policies removed, and sent again
    await().until(() -> !page("/rlconfig").contains("shop.k"));
    controlPlane.send("4", GOOD);
    await().until(() -> page("/rlconfig").contains("shop.k"));
    assertThat(ask()).isEqualTo("OK [OK 5/DAY rem=2]");
  }

  @Test
  void withoutForceTheStartWaitsForPolicies() throws Exception {
    Map<String, String> environment = environment();
    environment.remove("FORCE_START_WITHOUT_INITIAL_CONFIG");
    CompletableFuture<RateLimitService> starting =
        CompletableFuture.supplyAsync(() -> start(environment));
    await().until(() -> !controlPlane.requests.isEmpty());
    assertThat(starting).isNotDone();
    assertThat(LoopbackService.of(environment).grpcAddress()).isEqualTo("-");
    controlPlane.send("1", GOOD);
    assertThat(starting).succeedsWithin(LIMIT);
    assertThat(ask()).isEqualTo("OK [OK 5/DAY rem=4]");
  }

  @Test
  void aStopEndsTheWaitForPolicies() {
    Map<String, String> environment = environment();
    environment.remove("FORCE_START_WITHOUT_INITIAL_CONFIG");
    RateLimitService waiting = LoopbackService.of(environment);
    CompletableFuture<Boolean> starting = CompletableFuture.supplyAsync(waiting::start);
    await().until(() -> !controlPlane.requests.isEmpty());
    assertThat(waiting.stop()).isFalse();
    assertThat(starting).succeedsWithin(LIMIT).isEqualTo(false);
  }

  @Test
  void policiesOfAnEarlierProcessApplyWhileTheControlPlaneIsAway() throws Exception {
    Map<String, String> environment = environment();
    environment.remove("FORCE_START_WITHOUT_INITIAL_CONFIG");
    environment.put("THROTTLEKIT_POLICIES_LAST_GOOD_FOLDER", folder.toString());
    controlPlane.send("1", GOOD);
    start(environment).stop();
    server.shutdownNow();
    start(environment);
    assertThat(ask()).isEqualTo("OK [OK 5/DAY rem=4]");
    assertThat(page("/rlconfig")).contains("not connected");
  }

  @Test
  void wrongOverridesEndTheStartOfAServiceThatRequiresPolicies() throws IOException {
    Path overrides = folder.resolve("overrides.yaml");
    Files.writeString(overrides, "overrides: [{domain: d, rate_limit: {tier: leesed}}]");
    Map<String, String> environment = environment();
    environment.put("THROTTLEKIT_POLICIES_XDS_OVERRIDES", overrides.toString());
    start(environment).stop();
    environment.remove("FORCE_START_WITHOUT_INITIAL_CONFIG");
    assertThatExceptionOfType(StartException.class)
        .isThrownBy(() -> LoopbackService.of(environment).start())
        .withMessageContaining(overrides + ":1:44: error: `leesed` is not a value of `tier`");
  }
}
