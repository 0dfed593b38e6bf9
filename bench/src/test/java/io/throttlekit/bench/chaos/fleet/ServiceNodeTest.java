package io.throttlekit.bench.chaos.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.envoy.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServiceNodeTest {
  @TempDir private Path folder;

  @Test
  void anEndedProcessIsReportedWithItsLog() throws Exception {
    Path log = folder.resolve("log");
    List<Path> ended = new ArrayList<>();
    try (ChildProcess child = ChildProcess.start(List.of("sleep", "600"), Map.of(), log)) {
      OffsetClock clock = OffsetClock.of(folder.resolve("clock"));
      ServiceNode node = new ServiceNode(child, clock, 1, 1, 1, 1, log);
      node.ifEnded(ended::add);
      assertThat(ended).isEmpty();
      node.kill();
      assertThat(Waiting.until(() -> !node.alive(), Duration.ofMinutes(5))).isTrue();
      node.ifEnded(ended::add);
      assertThat(ended).containsExactly(log);
    }
  }
}
