package io.throttlekit.service.envoy;

import static org.awaitility.Awaitility.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterStats;
import io.envoyproxy.envoy.config.endpoint.v3.UpstreamLocalityStats;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.load_stats.v3.LoadReportingServiceGrpc;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsResponse;
import io.envoyproxy.envoy.service.runtime.v3.Runtime;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.envoy.EnvoyWiring;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.Options;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.IOException;
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
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real Envoys with one node id, and a client that lies beside them, divide one limit. */
@RealEnvoy
class EnvoySharesUnderAttackTest {
  private static final int LIMIT = 12;
  private static final Pattern PORTS =
      Pattern.compile("grpc=[^ ]*:(\\d+).*debug=[^ ]*:(\\d+) sensors=[^ ]*:(\\d+)");
  private static final String POLICY =
      """
      domain: concurrency-limit
      descriptors:
        - {key: in_flight, value: upstream, concurrency: {gate: envoy, cluster: upstream, min: LIMIT, max: LIMIT}}
      """
          .replace("LIMIT", Integer.toString(LIMIT));

  @TempDir Path folder;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private Upstream upstream;
  private RateLimitService service;
  private int port;
  private int debugPort;
  private int sensorsPort;

  @BeforeEach
  void start() throws IOException {
    upstream = Upstream.start();
    Path policy = Files.writeString(folder.resolve("policy.yaml"), POLICY);
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_GRPC_HOST", "127.0.0.1",
            "THROTTLEKIT_GRPC_PORT", "0",
            "THROTTLEKIT_HTTP_PORT", "0",
            "THROTTLEKIT_DEBUG_PORT", "0",
            "THROTTLEKIT_SENSORS_LISTEN", "127.0.0.1:0",
            "THROTTLEKIT_CONCURRENCY_ENVOY_HOLD", "5s",
            "THROTTLEKIT_WARM_UP_REQUESTS", "0");
    Map<String, List<String>> flags = Options.of("--policies", policy.toString());
    service =
        new RateLimitService(
            Objects.requireNonNull(new ConfigLoader(environment).load(flags).config()),
            TimeSource.system());
    assertThat(service.start()).isTrue();
    Matcher ports = PORTS.matcher(service.readyLine());
    assertThat(ports.find()).as(service.readyLine()).isTrue();
    port = Integer.parseInt(ports.group(1));
    debugPort = Integer.parseInt(ports.group(2));
    sensorsPort = Integer.parseInt(ports.group(3));
  }

  @AfterEach
  void stop() throws Exception {
    client.shutdownNow();
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
    service.stop();
    upstream.close();
  }

  @Test
  void eachHonestIdHasAnEqualShareUnderLoadWhateverAClientInvents() throws Exception {
    Liar liar = new Liar(true);
    opened.add(liar);
    await().until(() -> liar.share == LIMIT);
    Loaded other = new Loaded("other");
    List<Loaded> same = List.of(new Loaded("same"), new Loaded("same"));
    await()
        .until(() -> {
          int held = other.attempt();
          int ofBoth = same.getFirst().attempt() + same.getLast().attempt();
          assertThat(held + ofBoth).as("in flight").isLessThanOrEqualTo(LIMIT);
          return held >= LIMIT / 3 && ofBoth >= LIMIT / 3;
        });
    assertThat(same).as("neither ends the other").allMatch(envoy -> envoy.held > 0);
    await().until(() -> liar.share <= LIMIT / 3);
    assertThat(metric("throttlekit_concurrency_shared_node_ids")).isEqualTo(1);
  }

  @Test
  void aClientThatAcknowledgesNoSmallerShareKeepsTheOthersFromItWhileItIsConnected()
      throws Exception {
    Liar liar = new Liar(false);
    await().until(() -> liar.share == LIMIT);
    Loaded honest = new Loaded("honest");
    await().until(() -> {
      honest.attempt();
      return liar.share < LIMIT && metric("throttlekit_concurrency_unacknowledged_envoys") == 1;
    });
    assertThat(honest.attempt()).as("of the places that the liar has").isZero();
    liar.close();
    await().until(() -> honest.attempt() == LIMIT);
  }

  private int metric(String name) throws Exception {
    URI page = URI.create("http://127.0.0.1:" + debugPort + "/metrics");
    String metrics =
        client.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString()).body();
    Matcher line = Pattern.compile("(?m)^" + name + "(?:\\{[^}]*})? (\\d+)").matcher(metrics);
    return line.find() ? Integer.parseInt(line.group(1)) : -1;
  }

  /** An Envoy, and the requests in flight through it. */
  private final class Loaded {
    private final EnvoyProcess envoy;
    private int held;

    Loaded(String node) throws IOException {
      String bootstrap =
          EnvoyExample.CONCURRENCY_LIMIT
              .bootstrap(
                  new EnvoyWiring(
                      0,
                      0,
                      port,
                      sensorsPort,
                      upstream.port(),
                      java.time.Duration.ofSeconds(30),
                      Path.of("/dev/null")))
              .replace("id: edge-1", "id: " + node)
              .replace("max_requests: 100", "max_requests: 0")
              .replace("initial_fetch_timeout: 1s", "initial_fetch_timeout: 30s");
      Path own = Files.createTempDirectory(folder, "envoy");
      envoy = EnvoyProcess.start(EnvoyProgram.path(), bootstrap, own);
      opened.add(envoy);
    }

    /** Sends a request, which the upstream holds if Envoy admits it; returns how many are held. */
    int attempt() {
      int before = upstream.requests();
      URI uri = URI.create("http://127.0.0.1:" + envoy.port() + "/?hold");
      CompletableFuture<HttpResponse<Void>> sent =
          client.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding());
      await().until(() -> sent.isDone() || upstream.requests() > before);
      assertThat(sent.isDone() ? sent.join().statusCode() : 503).isEqualTo(503);
      held += sent.isDone() ? 0 : 1;
      return held;
    }
  }

  /**
   * Reports a million requests in progress and refusals, and receives a share.
   *
   * <p>Unless it acknowledges all shares, it acknowledges none after it had the whole limit.
   */
  private final class Liar implements StreamObserver<DiscoveryResponse>, AutoCloseable {
    private static final long INVENTED = 1_000_000;

    private static final Node NODE = Node.newBuilder().setId("liar").build();
    private static final DiscoveryRequest SUBSCRIPTION =
        DiscoveryRequest.newBuilder()
            .setNode(NODE)
            .setTypeUrl("type.googleapis.com/envoy.service.runtime.v3.Runtime")
            .addResourceNames("concurrency_limits")
            .build();

    private final ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", sensorsPort).usePlaintext().build();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private final boolean acknowledges;
    private final StreamObserver<DiscoveryRequest> limits;
    private final StreamObserver<LoadStatsRequest> loads;
    private volatile int share;
    private boolean hadAll;

    Liar(boolean acknowledges) {
      this.acknowledges = acknowledges;
      this.limits = AggregatedDiscoveryServiceGrpc.newStub(channel).streamAggregatedResources(this);
      limits.onNext(SUBSCRIPTION);
      this.loads =
          LoadReportingServiceGrpc.newStub(channel)
              .streamLoadStats(
                  new StreamObserver<>() {
                    @Override
                    public void onNext(LoadStatsResponse response) {}

                    @Override
                    public void onError(Throwable cause) {}

                    @Override
                    public void onCompleted() {}
                  });
      var _ = clock.scheduleAtFixedRate(this::lie, 0, 100, TimeUnit.MILLISECONDS);
    }

    private void lie() {
      loads.onNext(
          LoadStatsRequest.newBuilder()
              .setNode(NODE)
              .addClusterStats(
                  ClusterStats.newBuilder()
                      .setClusterName("upstream")
                      .setTotalDroppedRequests(INVENTED)
                      .setLoadReportInterval(Duration.newBuilder().setNanos(100_000_000))
                      .addUpstreamLocalityStats(
                          UpstreamLocalityStats.newBuilder().setTotalRequestsInProgress(INVENTED)))
              .build());
    }

    @Override
    public void onNext(DiscoveryResponse response) {
      try {
        share =
            (int)
                response
                    .getResources(0)
                    .unpack(Runtime.class)
                    .getLayer()
                    .getFieldsOrThrow("circuit_breakers.upstream.default.max_requests")
                    .getNumberValue();
      } catch (InvalidProtocolBufferException e) {
        throw new IllegalStateException(e);
      }
      if (acknowledges || !hadAll) {
        limits.onNext(
            SUBSCRIPTION.toBuilder()
                .setVersionInfo(response.getVersionInfo())
                .setResponseNonce(response.getNonce())
                .build());
      }
      hadAll |= share == LIMIT;
    }

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onCompleted() {}

    @Override
    public void close() {
      clock.shutdownNow();
      channel.shutdownNow();
    }
  }
}
