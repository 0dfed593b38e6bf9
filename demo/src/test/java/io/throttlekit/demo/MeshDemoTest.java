package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.demo.MeshCounts.Window;
import io.throttlekit.testkit.envoy.EnvoyLookup;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

@RealEnvoy
class MeshDemoTest {
  /** A longer filter timeout, because other tests use the processors. */
  private static final String LONG_TIMEOUT = "60s";

  /** Windows of 5 s: longer than the shortest, as a busy machine takes longer to recover. */
  private static final int SECONDS = 30;

  private static final int EU = MeshScenario.REGIONS.indexOf(MeshScenario.CUT);

  /** The window of the scenario during which a region is partitioned from beginning to end. */
  private static final int WHOLLY_CUT = 3;

  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
  private final List<String> progress = new ArrayList<>();

  @Test
  void neverExceedsTheLimitWhileARegionIsCutOffAndRecovers() throws Exception {
    MeshSummary summary = run(new EnvoyLookup.Found(EnvoyProgram.path(), "1.40.0"), SECONDS);
    String seen = screen.toString(StandardCharsets.UTF_8) + summary.json();
    assertThat(summary.overshoot()).as(seen).isZero();
    assertThat(summary.failed()).as(seen).isZero();
    assertThat(summary.windows()).as(seen).hasSize(6);
    for (int region = 0; region < MeshScenario.REGIONS.size(); region++) {
      int which = region;
      assertThat(summary.windows().stream().mapToLong(window -> window.admitted().get(which)).sum())
          .as("region %d: %s", region, seen)
          .isPositive();
    }
    assertCut(summary, seen);
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  private static void assertCut(MeshSummary summary, String seen) {
    assertThat(summary.cuts()).as(seen).hasSize(1);
    assertThat(summary.cuts().getFirst().refused()).as(seen).isPositive();
    assertThat(summary.cuts().getFirst().millisToReturn()).as(seen).isNotNegative();
    Window cut = summary.windows().get(WHOLLY_CUT);
    assertThat(cut.admitted().get(EU)).as(seen).isZero();
    assertThat(cut.refused().get(EU)).as(seen).isPositive();
    assertThat(cut.total()).as(seen).isPositive();
    assertThat(summary.windows().getLast().admitted().get(EU)).as(seen).isPositive();
  }

  @Test
  void failsWithoutAnEnvoy() {
    assertThatThrownBy(() -> run(new EnvoyLookup.Unavailable("no network"), 18))
        .isInstanceOf(IOException.class)
        .hasMessage("no Envoy: no network");
    assertThat(progress).isEmpty();
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  private MeshSummary run(EnvoyLookup envoy, int seconds) throws Exception {
    try (PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      return new MeshDemo(new DemoEnvironment(_ -> envoy, progress::add), LONG_TIMEOUT)
          .run(seconds, out);
    }
  }
}
