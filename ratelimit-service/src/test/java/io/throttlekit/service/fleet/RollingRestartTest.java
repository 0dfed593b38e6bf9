package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceBlockingStub;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.net.ReservedPort;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three processes on one Redis are restarted one after the other under load: of a client that reads
 * the readiness probe, and of an Envoy with health checks. The store answers slowly at the first
 * SIGTERM, so that calls are in progress when the process has waited for its load balancers.
 */
@RealRedis
@RealEnvoy
@Tag("alone")
class RollingRestartTest {
  private static final int REPLICAS = 3;

  /** Half of the requests charge it; its units are leased. */
  private static final int LIMIT = 100_000;

  /** More than a process spends in the test, so that no request waits for a lease. */
  private static final int LEASE = 15_000;

  /**
   * Many times what a load balancer takes: Envoy checks every 100 ms here, and passes what it
   * learns to its workers at once.
   */
  private static final String DELAY = "4s";

  /** Above the delay: calls of before the load balancer's check end after it. */
  private static final long REPLY_MILLIS = 4_500;

  private static final int LARGE = 500;

  @TempDir private Path folder;

  @Test
  void noRequestFailsAndEveryLeasedUnitIsReturned() throws Exception {
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy way = TcpProxy.to(redis.port());
        Fleet fleet = new Fleet(way, Map.of())) {
      fleet.restart(REPLICAS);
      assertThat(fleet.calls.failures()).isEmpty();
      assertThat(fleet.envoy.failures()).as("through Envoy: %s", fleet.envoy.counted()).isEmpty();
      assertThat(fleet.calls.sent()).isGreaterThan(500);
      assertThat(fleet.envoy.decided()).isGreaterThan(250);

      // The last process has all units that the others did not spend.
      ServiceProcess last = fleet.running.removeLast();
      for (ServiceProcess each : fleet.running) {
        assertThat(each.stop()).isZero();
      }
      long spent = (fleet.calls.sent() + 1) / 2; // the first request is one of them
      assertThat(spent + spend(last)).isEqualTo(LIMIT);
      assertThat(last.stop()).isZero();
    }
  }

  @Test
  @Tag("thorough")
  void requestsFailWithoutTheTimeInWhichLoadBalancersNotice() throws Exception {
    assertFails(Map.of("THROTTLEKIT_GRPC_DRAIN_DELAY", "0s"));
  }

  @Test
  @Tag("thorough")
  void requestsFailWithoutTheTimeForCallsInProgress() throws Exception {
    assertFails(Map.of("THROTTLEKIT_GRPC_DRAIN_TIMEOUT", "0s"));
  }

  private void assertFails(Map<String, String> environment) throws Exception {
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy way = TcpProxy.to(redis.port());
        Fleet fleet = new Fleet(way, environment)) {
      fleet.restart(1);
      assertThat(fleet.calls.failures()).isNotEmpty();
      assertThat(fleet.envoy.failures()).as("through Envoy").isNotEmpty();
    }
  }

  /** Spends the rest of the limit, and returns it. */
  private static long spend(ServiceProcess process) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", process.port()).usePlaintext().build();
    try {
      RateLimitServiceBlockingStub stub = RateLimitServiceGrpc.newBlockingStub(channel);
      return spend(stub, LARGE) + spend(stub, 1);
    } finally {
      channel.shutdownNow();
    }
  }

  private static long spend(RateLimitServiceBlockingStub stub, int cost) {
    RateLimitRequest request = Offered.request(cost, "leased", "a");
    long spent = 0;
    while (stub.shouldRateLimit(request).getOverallCode() == Code.OK) {
      spent += cost;
    }
    return spent;
  }

  /** The processes, oldest first, and the load. */
  private final class Fleet implements AutoCloseable {
    private final TcpProxy way;
    private final Path policies;
    private final Map<String, String> environment;
    private final List<ServiceProcess> running = new ArrayList<>();
    private final List<ReservedPort> ports = new ArrayList<>();
    private final BalancedCalls calls;
    private final EnvoyCalls envoy;
    private int started;

    Fleet(TcpProxy way, Map<String, String> more) throws Exception {
      this.way = way;
      this.policies =
          Files.writeString(
              folder.resolve("fleet.yaml"),
              """
              domain: fleet
              descriptors:
                - key: leased
                  rate_limit:
                    requests_per_unit: %d
                    every: 365000d
                    tier: leased
                    lease: {size: %d}
                - {key: strict, rate_limit: {requests_per_unit: 1000000, every: 365000d}}
              """
                  .formatted(LIMIT, LEASE));
      this.environment =
          new HashMap<>(
              Map.of(
                  "THROTTLEKIT_STORE_URI", "redis://127.0.0.1:" + way.port(),
                  "THROTTLEKIT_STORE_DEADLINE", "60s",
                  "THROTTLEKIT_STORE_LEASE_DEADLINE", "60s",
                  "THROTTLEKIT_STORE_BREAKER_AFTER", "60s", // the store is slow on purpose
                  "THROTTLEKIT_GRPC_DRAIN_TIMEOUT", "60s",
                  // On a busy machine a connection takes longer than a start waits for it.
                  "THROTTLEKIT_HEALTH_STORE_MUST_BE_REACHABLE", "true",
                  "THROTTLEKIT_GRPC_DRAIN_DELAY", DELAY));
      environment.putAll(more);
      List<Callable<ServiceProcess>> starts = new ArrayList<>();
      for (int n = 0; n < REPLICAS; n++) {
        ports.add(ReservedPort.take());
        starts.add(start(ports.get(n).number()));
      }
      running.addAll(Concurrently.all(starts));
      this.calls =
          new BalancedCalls(
              running,
              List.of(Offered.request(1, "leased", "a"), Offered.request(1, "strict", "a")));
      calls.awaitAnswersOfLast(50);
      this.envoy = new EnvoyCalls(ports.stream().map(ReservedPort::number).toList(), folder);
    }

    /** Restarts so many of the processes, oldest first; then stops the load. */
    void restart(int times) throws Exception {
      for (int n = 0; n < times; n++) {
        way.delayReplies(n == 0 ? REPLY_MILLIS : 0); // once is enough, and takes seconds
        assertThat(running.removeFirst().stop()).isZero();
        way.delayReplies(0);
        ServiceProcess next = start(ports.get(n).number()).call();
        running.add(next);
        calls.add(next);
        calls.awaitAnswersOfLast(50);
        envoy.awaitHealthy(REPLICAS);
      }
      calls.stop();
      envoy.stop();
    }

    private Callable<ServiceProcess> start(int port) {
      Path log = folder.resolve("process" + started++);
      return () -> ServiceProcess.start(policies, environment, port, log);
    }

    @Override
    public void close() {
      calls.close();
      envoy.close();
      running.forEach(ServiceProcess::close);
      ports.forEach(ReservedPort::close);
    }
  }
}
