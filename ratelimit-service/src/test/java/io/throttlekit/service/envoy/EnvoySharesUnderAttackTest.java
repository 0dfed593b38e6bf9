package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
  private ServiceOfTest service;

  @BeforeEach
  void start() throws IOException {
    upstream = Upstream.start();
    Path policy = Files.writeString(folder.resolve("policy.yaml"), POLICY);
    service = ServiceOfTest.start(policy, Map.of("THROTTLEKIT_CONCURRENCY_ENVOY_HOLD", "5s"));
  }

  @AfterEach
  void stop() throws Exception {
    client.shutdownNow();
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
    service.close();
    upstream.close();
  }

  @Test
  void eachHonestIdHasAnEqualShareUnderLoadWhateverAClientInvents() throws Exception {
    Liar liar = new Liar(true);
    opened.add(liar);
    await().until(() -> liar.share == LIMIT);
    LoadedEnvoy other = envoy("other");
    List<LoadedEnvoy> same = List.of(envoy("same"), envoy("same"));
    List<LoadedEnvoy> honest = List.of(other, same.getFirst(), same.getLast());
    await()
        .until(() -> {
          int held = other.attempt();
          int ofBoth = same.getFirst().attempt() + same.getLast().attempt();
          assertThat(LoadedEnvoy.shares(honest)).isLessThanOrEqualTo(LIMIT);
          // Refused requests are the demand beyond a share.
          return held >= LIMIT / 3 && ofBoth >= LIMIT / 3 && liar.share <= LIMIT / 3;
        });
    assertThat(same).as("neither ends the other").allMatch(envoy -> envoy.held() > 0);
    assertThat(metric("throttlekit_concurrency_shared_node_ids")).isEqualTo(1);
  }

  @Test
  void aClientThatAcknowledgesNoSmallerShareKeepsTheOthersFromItWhileItIsConnected()
      throws Exception {
    Liar liar = new Liar(false);
    await().until(() -> liar.share == LIMIT);
    LoadedEnvoy honest = envoy("honest");
    await()
        .until(() -> {
          honest.attempt();
          return liar.share < LIMIT && metric("throttlekit_concurrency_unacknowledged_envoys") == 1;
        });
    assertThat(honest.attempt()).as("of the places that the liar has").isZero();
    liar.close();
    await().until(() -> honest.attempt() == LIMIT);
  }

  private LoadedEnvoy envoy(String node) throws IOException {
    LoadedEnvoy envoy = LoadedEnvoy.start(node, service, upstream, folder);
    opened.add(envoy);
    return envoy;
  }

  private int metric(String name) throws Exception {
    URI page = URI.create("http://127.0.0.1:" + service.debugPort() + "/metrics");
    String metrics =
        client.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString()).body();
    Matcher line = Pattern.compile("(?m)^" + name + "(?:\\{[^}]*})? (\\d+)").matcher(metrics);
    return line.find() ? Integer.parseInt(line.group(1)) : -1;
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
        NettyChannelBuilder.forAddress("127.0.0.1", service.sensorsPort()).usePlaintext().build();
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
