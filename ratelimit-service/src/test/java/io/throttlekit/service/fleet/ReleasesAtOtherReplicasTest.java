package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.UInt64Value;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.service.LoopbackService;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.testkit.postgres.RealPostgres;
import io.throttlekit.testkit.redis.RealRedis;
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
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two replicas that share a store; permits of one are released at the other. */
@RealRedis
@RealPostgres
class ReleasesAtOtherReplicasTest {
  private static final int REQUESTS = 20;
  private static final String POLICIES =
      """
      domain: shop
      descriptors:
        - {key: up, concurrency: {min: 100, max: 100, lease: {ttl: 1h}}}
      """;

  @TempDir private Path folder;
  private final HttpClient http = HttpClient.newHttpClient();
  private final List<Replica> replicas = new ArrayList<>();

  /** A service in this process, and a client of it. */
  private record Replica(RateLimitService service, ManagedChannel channel, String debug) {

    RateLimitResponse ask(List<RateLimitDescriptor> descriptors) {
      return RateLimitServiceGrpc.newBlockingStub(channel)
          .shouldRateLimit(
              RateLimitRequest.newBuilder()
                  .setDomain("shop")
                  .addAllDescriptors(descriptors)
                  .build());
    }

    String acquire() {
      // refused until the replica has joined the others, which a slow store delays
      RateLimitResponse answer =
          await()
              .until(
                  () -> ask(List.of(descriptor("up", "a", 0))),
                  it -> it.getOverallCode() == Code.OK);
      return answer.getDynamicMetadata().getFieldsOrThrow("lease").getStringValue();
    }

    void streamDone(String lease, long responseCode, long latencyMicros) {
      var _ =
          ask(
              List.of(
                  descriptor("throttlekit_lease", lease, 0),
                  descriptor("throttlekit_response_code", lease, responseCode),
                  descriptor("throttlekit_latency_us", lease, latencyMicros)));
    }
  }

  private static RateLimitDescriptor descriptor(String key, String value, long hits) {
    RateLimitDescriptor.Builder descriptor =
        RateLimitDescriptor.newBuilder()
            .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value));
    if (hits > 0) {
      descriptor.setHitsAddend(UInt64Value.of(hits));
    }
    return descriptor.build();
  }

  @BeforeEach
  void writePolicies() throws IOException {
    Files.writeString(folder.resolve("policies.yaml"), POLICIES);
  }

  @AfterEach
  void stop() {
    replicas.forEach(replica -> {
      replica.channel().shutdownNow();
      replica.service().stop();
    });
    http.close();
  }

  private Replica start(String store) {
    Map<String, String> environment = LoopbackService.environment(folder.resolve("policies.yaml"));
    environment.put("THROTTLEKIT_STORE_URI", store);
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    RateLimitService service = LoopbackService.of(environment);
    assertThat(service.start()).isTrue();
    ManagedChannel channel =
        NettyChannelBuilder.forTarget(service.grpcAddress()).usePlaintext().build();
    String debug = service.readyLine().replaceFirst(".*debug=(\\S+).*", "$1");
    Replica replica = new Replica(service, channel, debug);
    replicas.add(replica);
    return replica;
  }

  private double metric(Replica replica, String series) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + replica.debug() + "/metrics")).build();
    return http.send(request, BodyHandlers.ofString())
        .body()
        .lines()
        .filter(line -> line.startsWith(series + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
        .findFirst()
        .orElse(-1);
  }

  private void awaitMetric(Replica replica, String name, double value) {
    await().until(() -> metric(replica, "throttlekit_concurrency_" + name) == value);
  }

  @ParameterizedTest
  @EnumSource
  void endThePermitsWithWhatTheyReport(LeaseStore.Kind kind) throws Exception {
    try (LeaseStore store = LeaseStore.durable(kind)) {
      Replica first = start(store.uri(store.port()));
      Replica second = start(store.uri(store.port()));
      for (int i = 0; i < REQUESTS; i++) {
        String lease = first.acquire();
        second.streamDone(lease, i % 2 == 0 ? 200 : 503, 1);
      }
      awaitMetric(first, "live_leases", 0);
      awaitMetric(first, "released_total{by=\"stream_done\"}", REQUESTS);
      awaitMetric(first, "reported_ends_total{kind=\"answered\"}", REQUESTS / 2.0);
      awaitMetric(first, "reported_ends_total{kind=\"failed\"}", REQUESTS / 2.0);
      awaitMetric(first, "received_releases_total", REQUESTS);
      awaitMetric(second, "forwarded_releases_total", REQUESTS);
      assertThat(metric(first, "throttlekit_concurrency_in_flight{rule=\"shop.up\"}"))
          .isLessThanOrEqualTo(0);
      for (Replica replica : replicas) {
        assertThat(metric(replica, "throttlekit_concurrency_stale_releases_total")).isZero();
      }
    }
  }

  /** A client that knows one lease of a live process invents others of it, a thousand at a time. */
  @ParameterizedTest
  @EnumSource
  void inventedIdsAreNotForwardedAndDelayNone(LeaseStore.Kind kind) throws Exception {
    try (LeaseStore store = LeaseStore.durable(kind)) {
      Replica first = start(store.uri(store.port()));
      Replica second = start(store.uri(store.port()));
      first.acquire(); // so that the second one knows the key of the first
      second.streamDone(first.acquire(), 200, 1);
      await().until(() -> metric(second, "throttlekit_concurrency_forwarded_releases_total") == 1);
      String known = first.acquire();
      List<RateLimitDescriptor> invented =
          IntStream.range(0, 1_000)
              .mapToObj(i -> known.replaceFirst("-[0-9a-f]{16}", "-00ff00ff00ff%04x".formatted(i)))
              .map(id -> descriptor("throttlekit_lease", id, 0))
              .toList();
      for (int i = 0; i < REQUESTS; i++) {
        String honest = first.acquire();
        var _ = second.ask(invented);
        second.streamDone(honest, 200, 1);
      }
      awaitMetric(first, "live_leases", 2); // not released
      awaitMetric(second, "forwarded_releases_total", REQUESTS + 1);
      awaitMetric(second, "stale_releases_total", REQUESTS * 1_000);
      awaitMetric(first, "received_releases_total", REQUESTS + 1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void areSentByAReplicaThatStops(LeaseStore.Kind kind) throws Exception {
    try (LeaseStore store = LeaseStore.durable(kind)) {
      Replica first = start(store.uri(store.port()));
      Replica second = start(store.uri(store.port()));
      String lease = first.acquire();
      second.streamDone(lease, 200, 1);
      second.service().stop();
      await().until(() -> metric(first, "throttlekit_concurrency_live_leases") == 0);
    }
  }
}
