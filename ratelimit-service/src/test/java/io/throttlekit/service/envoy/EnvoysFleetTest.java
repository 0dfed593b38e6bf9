package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two Envoys, each with a service of its own, and one limit in one Redis. */
@MeshTest
@RealRedis
class EnvoysFleetTest {
  private static final int LIMIT = 50;
  private static final int BATCH = 4;

  @TempDir Path folder;

  @Test
  void twoEnvoysUnderThreeTimesTheLimitAdmitItOnceTogether() throws Exception {
    try (RedisProcess redis = RedisProcess.start();
        Mesh busy = mesh(redis, "busy");
        Mesh quiet = mesh(redis, "quiet");
        ExecutorService clients = Executors.newFixedThreadPool(2)) {
      int first = sendTo(quiet, BATCH).call(); // before the other node has them all
      assertThat(first).isEqualTo(BATCH);
      Future<Integer> most = clients.submit(sendTo(busy, 120));
      Future<Integer> some = clients.submit(sendTo(quiet, 30));
      int admitted = first + most.get() + some.get();
      // the node with fewer requests may have units of a batch left, which no other node can use
      int rest = sendTo(quiet, BATCH).call() + sendTo(busy, BATCH).call();
      assertThat(admitted + rest).isEqualTo(LIMIT);
      assertThat(busy.upstream().requests() + quiet.upstream().requests()).isEqualTo(LIMIT);
    }
  }

  private static Callable<Integer> sendTo(Mesh mesh, int requests) {
    return () -> mesh.admitted(requests, "/", "x-user", "batch");
  }

  private Mesh mesh(RedisProcess redis, String name) throws IOException {
    Map<String, String> store = Map.of("THROTTLEKIT_STORE_URI", redis.url());
    Changes leased =
        Changes.policy(policy ->
            policy.replace(
                Mesh.ENDLESS, Mesh.ENDLESS + ", tier: leased, lease: {size: " + BATCH + "}"));
    return Mesh.start(
        Files.createDirectories(folder.resolve(name)),
        EnvoyExample.REQUEST_HEADERS,
        leased.with(store));
  }
}
