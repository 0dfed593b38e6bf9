package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that Envoy admits after its timeout are counted by the service. */
@MeshTest
class EnvoyTimeoutTest {
  private static final String ALLOWED = "cluster.upstream.ratelimit.failure_mode_allowed: ";

  /** Timed out in Envoy, shed for their age, or failed in time because the store was too slow. */
  private static final Pattern MISSED =
      Pattern.compile(
          "(?m)^(?:throttlekit_abandoned_requests_total|throttlekit_shed_requests_total"
              + "|ratelimit_service_should_rate_limit_error)(?:\\{\\w+=\"\\w+\"\\})? (\\S+)");

  private static final int REQUESTS = 3;

  @TempDir Path folder;

  /** A process that gets no processor reads the requests only together with their resets. */
  @Test
  void countsRequestsThatTimedOutInEnvoyWhileTheServiceWasSuspended() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.FAIL_OPEN, timeout("2s"))) {
      await().until(() -> mesh.status("/") == 429);
      int before = allowed(mesh);
      double ours = missed(mesh);
      mesh.service().hang();
      try {
        for (int i = 0; i < REQUESTS; i++) {
          assertThat(mesh.status("/")).as("fails open").isEqualTo(200);
        }
      } finally {
        mesh.service().goOn();
      }
      int allowed = allowed(mesh) - before;
      assertThat(allowed).isEqualTo(REQUESTS);
      await().until(() -> missed(mesh) - ours, counted -> counted == allowed);
      assertThat(mesh.service().log())
          .contains("Envoy timed out on")
          .contains("cluster.<name>.ratelimit.failure_mode_allowed");
    }
  }

  @Test
  void countsRequestsThatTimedOutInEnvoyWhileTheStoreWasSlow() throws IOException {
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy slow = TcpProxy.to(redis.port())) {
      Changes changes =
          timeout("2s").with(Map.of("THROTTLEKIT_STORE_URI", "redis://127.0.0.1:" + slow.port()));
      try (Mesh mesh = Mesh.start(folder, EnvoyExample.FAIL_OPEN, changes)) {
        await().until(() -> mesh.status("/") == 429);
        int before = allowed(mesh);
        double ours = missed(mesh);
        slow.delayReplies(6_000);
        for (int i = 0; i < REQUESTS; i++) {
          assertThat(mesh.status("/")).as("fails open").isEqualTo(200);
        }
        int allowed = allowed(mesh) - before;
        assertThat(allowed).isEqualTo(REQUESTS);
        await().until(() -> missed(mesh) - ours, counted -> counted == allowed);
      }
    }
  }

  private static double missed(Mesh mesh) throws IOException {
    Matcher matcher = MISSED.matcher(mesh.metrics());
    double sum = 0;
    while (matcher.find()) {
      sum += Double.parseDouble(matcher.group(1));
    }
    return sum;
  }

  private static Changes timeout(String value) {
    return Changes.bootstrap(text -> {
      String changed = text.replaceFirst("(domain: fail-open\\s+timeout: )\\S+", "$1" + value);
      assertThat(changed).contains("timeout: " + value);
      return changed;
    });
  }

  private static int allowed(Mesh mesh) throws IOException {
    String stats = mesh.envoy().admin("/stats?filter=ratelimit.failure_mode_allowed").strip();
    return stats.isEmpty() ? 0 : Integer.parseInt(stats.substring(ALLOWED.length()));
  }
}
