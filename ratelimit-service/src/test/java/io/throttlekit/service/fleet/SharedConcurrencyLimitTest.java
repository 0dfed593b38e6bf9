package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that share concurrency limits through one Redis, as callers and operators see them. */
@RealRedis
class SharedConcurrencyLimitTest {
  private static final int LIMIT = 12;
  private static final int ADMITTED = 1_000; // requests of each replica

  /** Field of a node's row in the store: fleet.lua. */
  private static final int LEFT = 10;

  private static final String POLICIES =
      """
      domain: shop
      descriptors:
        - {key: up, concurrency: {min: 12, max: 12, lease: {ttl: 1h}}}
        - {key: closed, concurrency: {min: 100000, max: 100000, lease: {ttl: 1h}}}
        - key: local
          concurrency:
            {min: 100000, max: 100000, lease: {ttl: 1h}, coordination: {on_outage: local_only}}
      """;

  @TempDir private Path folder;

  private final RedisProcess redis = RedisProcess.start();
  private final List<ServiceProcess> replicas = new ArrayList<>();
  private final List<AutoCloseable> clients = new ArrayList<>();

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable client : clients) {
      client.close();
    }
    replicas.forEach(ServiceProcess::close);
    redis.close();
  }

  @Test
  void replicasNeverAdmitMoreThanOneLimitTogether() throws Exception {
    List<LeasedCalls> calls =
        List.of(calls(replica("a")), calls(replica("b")), calls(replica("c")));
    AtomicInteger inFlight = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    // The first one has the whole limit when the others come.
    calls.getFirst().load("up", () -> calls.getFirst().admitted() >= 100, LIMIT, inFlight, most);
    // Until each replica has had a share for a while, and the limit was reached.
    BooleanSupplier enough =
        () ->
            most.get() > LIMIT - 3 && calls.stream().allMatch(each -> each.admitted() >= ADMITTED);
    List<Callable<Void>> loads = new ArrayList<>();
    for (LeasedCalls each : calls) {
      for (int held : List.of(LIMIT, LIMIT / 2)) {
        loads.add(() -> {
          each.load("up", enough, held, inFlight, most);
          return null;
        });
      }
    }
    Concurrently.all(loads);
    assertThat(most).hasValueLessThanOrEqualTo(LIMIT);
    Caller first = caller(replicas.getFirst());
    await()
        .untilAsserted(() -> {
          assertThat(first.page("/concurrency"))
              .contains("# node: a\n")
              .containsPattern("up\\S*: share=\\d+ limit=12 in_flight=\\d+ nodes=3 steering=[abc]");
          assertThat(first.page("/metrics"))
              .contains(
                  "throttlekit_concurrency_fleet_limit{domain=\"shop\",rule=\"up\"} 12.0",
                  "throttlekit_concurrency_nodes{domain=\"shop\",rule=\"up\"} 3.0",
                  "throttlekit_concurrency_fenced{domain=\"shop\",rule=\"up\"} 0.0");
        });
  }

  @Test
  void theOthersGetTheShareOfAReplicaThatStops() throws Exception {
    LeasedCalls one = calls(replica("a"));
    ServiceProcess stopping = replica("b");
    LeasedCalls other = calls(stopping);
    // the first one has the whole limit until the other one has joined
    await().until(() -> other.acquire("up") != null);
    await().until(() -> one.acquire("up") == null);
    await().until(() -> other.acquire("up") == null);
    stopping.close();
    // its requests in flight stay reserved until its lease ends
    await().until(() -> one.acquire("up") != null);
  }

  /** Else the others would wait for the end of its lease at each restart of a fleet. */
  @Test
  @Tag("thorough") // two processes
  void aReplicaThatIsTerminatedHasLeftWhenItExitsAlsoWithASlowRedis() throws Exception {
    try (TcpProxy slow = TcpProxy.to(redis.port())) {
      LeasedCalls one = calls(replica("a"));
      ServiceProcess stopping = replica("b", "redis://127.0.0.1:" + slow.port());
      LeasedCalls other = calls(stopping);
      one.release(Objects.requireNonNull(one.acquire("up")));
      await()
          .until(() -> {
            String lease = other.acquire("up");
            if (lease != null) {
              other.release(lease);
            }
            return lease != null;
          });
      assertThat(hasLeft("b")).isFalse();
      slow.delayReplies(200);
      assertThat(stopping.stop()).isZero();
      assertThat(hasLeft("b")).isTrue();
      assertThat(hasLeft("a")).isFalse();
    }
  }

  /** Returns whether the store has noted that a node left; fails if it does not know the node. */
  private boolean hasLeft(String node) {
    String key =
        redis
            .command("KEYS", "*fleet*")
            .lines()
            .filter(line -> line.contains("up"))
            .findFirst()
            .orElseThrow();
    List<String> rows = redis.command("HGETALL", key).lines().toList();
    int name =
        IntStream.range(0, rows.size())
            .filter(i -> rows.get(i).startsWith(node + ":"))
            .findFirst()
            .orElseThrow(() -> new AssertionError(rows));
    return rows.get(name + 1).split(" ", -1)[LEFT].equals("1");
  }

  @Test
  void withoutItsRedisARuleRefusesAfterItsLeaseOrGoesOnAlone() throws Exception {
    ServiceProcess replica = replica("a");
    Caller caller = caller(replica);
    await().until(() -> caller.ask("closed") == Code.OK);
    assertThat(caller.ask("local")).isEqualTo(Code.OK);
    redis.stop();
    await()
        .until(() -> {
          assertThat(caller.ask("local")).isEqualTo(Code.OK);
          return caller.ask("closed") == Code.OVER_LIMIT;
        });
    await()
        .untilAsserted(() ->
            assertThat(caller.page("/metrics"))
                .contains("throttlekit_concurrency_fenced{domain=\"shop\",rule=\"closed\"} 1.0")
                .contains("throttlekit_concurrency_fenced{domain=\"shop\",rule=\"local\"} 0.0"));
    assertThat(caller.page("/concurrency")).containsPattern("closed\\S*: share=0 .* fenced\n");
    redis.restart();
    await()
        .until(() -> {
          assertThat(caller.ask("local")).isEqualTo(Code.OK);
          return caller.ask("closed") == Code.OK;
        });
    await()
        .untilAsserted(() ->
            assertThat(replica.log())
                .containsOnlyOnce("concurrency limits of closed in domain shop refuse all requests")
                .contains("concurrency limits of closed in domain shop admit requests again")
                .doesNotContain("\tat "));
  }

  private ServiceProcess replica(String node) throws IOException {
    return replica(node, redis.url());
  }

  private ServiceProcess replica(String node, String store) throws IOException {
    Path policies = Files.writeString(folder.resolve("policies.yaml"), POLICIES);
    ServiceProcess replica =
        ServiceProcess.start(
            policies,
            Map.of("THROTTLEKIT_STORE_URI", store, "THROTTLEKIT_CONCURRENCY_NODE_ID", node),
            0,
            folder.resolve("log-" + node));
    replicas.add(replica);
    return replica;
  }

  private LeasedCalls calls(ServiceProcess replica) {
    LeasedCalls calls = new LeasedCalls(replica);
    clients.add(calls);
    return calls;
  }

  private Caller caller(ServiceProcess replica) {
    Caller caller = new Caller(replica);
    clients.add(caller);
    return caller;
  }
}
