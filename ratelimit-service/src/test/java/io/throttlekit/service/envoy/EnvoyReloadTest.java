package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@MeshTest
class EnvoyReloadTest {

  @TempDir Path folder;

  @Test
  void aReloadUnderTrafficAppliesTheNewPolicyAndKeepsCounts() throws Exception {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.FAIL_CLOSED, Changes.policy(_ -> limit(30)))) {
      Traffic traffic = Traffic.start(mesh);
      await().until(() -> traffic.seen(429) >= 20);
      assertThat(traffic.seen(200)).isEqualTo(30);

      mesh.policy(limit(45));
      await().until(() -> traffic.seen(200) == 45);

      int refused = traffic.seen(429);
      mesh.policy("domain: fail-closed\ndescriptors: [{key: backend, rate_limit: {unit: dya}}]");
      await().until(() -> traffic.seen(429) >= refused + 50);
      traffic.stop();
      assertThat(traffic.statuses()).as("a bad file changes nothing").containsOnlyKeys(200, 429);
      assertThat(traffic.seen(200)).as("counts from before the reload are kept").isEqualTo(45);
    }
  }

  private static String limit(int requests) {
    return """
    domain: fail-closed
    descriptors:
      - key: backend
        value: upstream
        rate_limit: {requests_per_unit: %d, %s}
    """
        .formatted(requests, Mesh.ENDLESS);
  }

  /** Two clients that send one request after another. */
  private record Traffic(
      ExecutorService threads,
      List<Future<Integer>> clients,
      ConcurrentHashMap<Integer, AtomicInteger> statuses,
      AtomicBoolean stopped) {

    static Traffic start(Mesh mesh) {
      Traffic traffic =
          new Traffic(
              Executors.newFixedThreadPool(2),
              new ArrayList<>(),
              new ConcurrentHashMap<>(),
              new AtomicBoolean());
      for (int i = 0; i < 2; i++) {
        traffic.clients.add(traffic.threads.submit(() -> traffic.send(mesh)));
      }
      return traffic;
    }

    private int send(Mesh mesh) throws IOException {
      int sent = 0;
      while (!stopped.get()) {
        statuses.computeIfAbsent(mesh.status("/"), _ -> new AtomicInteger()).incrementAndGet();
        sent++;
      }
      return sent;
    }

    int seen(int status) {
      AtomicInteger seen = statuses.get(status);
      return seen == null ? 0 : seen.get();
    }

    void stop() throws ExecutionException, InterruptedException {
      stopped.set(true);
      for (Future<Integer> client : clients) {
        assertThat(client.get()).isPositive();
      }
      threads.close();
    }
  }
}
