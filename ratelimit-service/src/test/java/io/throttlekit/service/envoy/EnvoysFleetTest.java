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
  void twoEnvoysThatAreOfferedThreeTimesTheLimitAdmitItOnceTogether() throws Exception {
    try (RedisProcess redis = RedisProcess.start();
        Mesh busy = mesh(redis, "busy");
        Mesh quiet = mesh(redis, "quiet");
        ExecutorService clients = Executors.newFixedThreadPool(2)) {
      Future<Integer> most = clients.submit(asking(busy, 120));
      Future<Integer> some = clients.submit(asking(quiet, 30));
      int admitted = most.get() + some.get();
      // who asked less may have ended with some of a batch left, which nobody else can have
      int rest = asking(quiet, BATCH).call() + asking(busy, BATCH).call();
      assertThat(admitted + rest).isEqualTo(LIMIT);
      assertThat(some.get()).as("admitted by the node that was asked less").isPositive();
      assertThat(busy.upstream().requests() + quiet.upstream().requests()).isEqualTo(LIMIT);
    }
  }

  private static Callable<Integer> asking(Mesh mesh, int requests) {
    return () -> mesh.admitted(requests, "/", "x-user", "batch");
  }

  private Mesh mesh(RedisProcess redis, String name) throws IOException {
    Map<String, String> store =
        Map.of("THROTTLEKIT_STORE_URI", redis.url(), "THROTTLEKIT_STORE_DEADLINE", "2s");
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
