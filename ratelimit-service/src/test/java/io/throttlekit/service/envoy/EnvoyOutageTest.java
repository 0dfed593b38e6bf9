package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@MeshTest
class EnvoyOutageTest {

  @TempDir Path folder;

  @Test
  void admitsRequestsWhileTheServiceIsStoppedIfConfiguredToFailOpen() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.FAIL_OPEN, Changes.NONE)) {
      assertThat(mesh.admitted(4, "/")).isEqualTo(2);
      mesh.stopService();
      for (int i = 0; i < 4; i++) {
        assertThat(mesh.status("/")).isEqualTo(200);
      }
      assertThat(mesh.envoy().admin("/stats?filter=ratelimit.failure_mode_allowed"))
          .contains("cluster.upstream.ratelimit.failure_mode_allowed: 4");

      mesh.startServiceAgain();
      await().until(() -> mesh.status("/") == 429);
      assertThat(mesh.upstream().requests())
          .as("2 + 4 + 2 of the new counter, at least")
          .isGreaterThanOrEqualTo(8);
    }
  }

  @Test
  void deniesRequestsWhileTheServiceIsStoppedIfConfiguredToFailClosed() throws IOException {
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.FAIL_CLOSED, Changes.NONE)) {
      assertThat(mesh.status("/")).isEqualTo(200);
      mesh.stopService();
      for (int i = 0; i < 4; i++) {
        assertThat(mesh.status("/")).isEqualTo(503);
      }
      assertThat(mesh.upstream().requests()).isEqualTo(1);

      mesh.startServiceAgain();
      await().until(() -> mesh.status("/") == 200);
    }
  }
}
