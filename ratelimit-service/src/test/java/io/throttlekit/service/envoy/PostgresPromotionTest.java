package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.service.server.TestRequests;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two replicas with limits of each gate, whose PostgreSQL is killed and replaced by its synchronous
 * standby.
 */
@RealEnvoy
@RealPostgres
class PostgresPromotionTest {
  private static final int AT_ENVOYS = 12;
  private static final int AT_SERVICE = 10;
  private static final String POLICY =
      """
      domain: concurrency-limit
      descriptors:
        - key: in_flight
          concurrency: {gate: envoy, cluster: upstream, min: 12, max: 12}
        - key: permit
          concurrency: {min: 10, max: 10, lease: {ttl: 10m}}
      """;

  @TempDir private Path folder;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private Upstream upstream;

  @BeforeEach
  void start() throws Exception {
    upstream = opened(Upstream.start());
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void limitsOfBothGatesHoldThroughThePromotion() throws Exception {
    PostgresProcess primary = opened(PostgresProcess.start());
    PostgresProcess standby = opened(primary.startStandby("synchronous_standby_names=*"));
    Path policy = Files.writeString(folder.resolve("policy.yaml"), POLICY);
    String uri =
        "postgresql://%s:any@127.0.0.1:%d,127.0.0.1:%d/postgres"
            .formatted(PostgresProcess.SUPERUSER, primary.port(), standby.port());
    List<Replica> replicas = new ArrayList<>();
    for (String id : List.of("a", "b")) {
      replicas.add(
          opened(
              new Replica(
                  ServiceOfTest.start(
                      policy,
                      Map.of(
                          "THROTTLEKIT_STORE_URI", uri, "THROTTLEKIT_CONCURRENCY_NODE_ID", id)))));
    }
    List<LoadedEnvoy> envoys = new ArrayList<>();
    for (Replica replica : replicas) {
      LoadedEnvoy envoy = envoy("edge-" + envoys.size(), replica);
      envoys.add(envoy);
      await().until(() -> envoy.attempt() >= 3);
      int before = permits(replicas);
      await().until(() -> replica.attempt() && permits(replicas) >= before + 2);
    }

    primary.kill();
    standby.promote();

    envoys.add(envoy("edge-new", replicas.getLast()));
    await()
        .until(() -> {
          envoys.forEach(LoadedEnvoy::attempt);
          int shares = LoadedEnvoy.shares(envoys);
          assertThat(shares).as("gate: envoy").isLessThanOrEqualTo(AT_ENVOYS);
          return shares == AT_ENVOYS && envoys.getLast().held() > 0;
        });
    await()
        .until(() -> {
          replicas.forEach(Replica::attempt);
          assertThat(permits(replicas)).as("gate: service").isLessThanOrEqualTo(AT_SERVICE);
          return permits(replicas) == AT_SERVICE;
        });
    for (int i = 0; i < 2 * AT_SERVICE; i++) {
      assertThat(replicas.get(i % 2).attempt()).isFalse();
    }
  }

  private static int permits(List<Replica> replicas) {
    return replicas.stream().mapToInt(replica -> replica.permits).sum();
  }

  private LoadedEnvoy envoy(String node, Replica replica) throws Exception {
    return opened(LoadedEnvoy.start(node, replica.service, upstream, folder));
  }

  private <T extends AutoCloseable> T opened(T resource) {
    opened.add(resource);
    return resource;
  }

  /** A replica, and the leases that it gave, none of which is released. */
  private static final class Replica implements AutoCloseable {
    private final ServiceOfTest service;
    private final ManagedChannel channel;
    private int permits;

    Replica(ServiceOfTest service) {
      this.service = service;
      this.channel =
          NettyChannelBuilder.forAddress("127.0.0.1", service.port()).usePlaintext().build();
    }

    /** Returns whether a request is admitted. */
    boolean attempt() {
      var answer =
          RateLimitServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(60, TimeUnit.SECONDS)
              .shouldRateLimit(
                  TestRequests.to("concurrency-limit", TestRequests.entries("permit", "any")));
      boolean admitted = answer.getOverallCode() == Code.OK;
      permits += admitted ? 1 : 0;
      return admitted;
    }

    @Override
    public void close() {
      channel.shutdownNow();
      service.close();
    }
  }
}
