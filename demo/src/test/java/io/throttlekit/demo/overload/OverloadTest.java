package io.throttlekit.demo.overload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.demo.DemoEnvironment;
import io.throttlekit.demo.load.Capacity;
import io.throttlekit.demo.load.Course.Figures;
import io.throttlekit.demo.overload.OverloadSummary.Row;
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

/**
 * Uses real Envoys, one of which limits nothing and is what the other one is compared with. {@code
 * bin/bench overload} measures goodput: docs/CONCURRENCY.md.
 */
@RealEnvoy
class OverloadTest {
  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
  private final List<String> progress = new ArrayList<>();

  @Test
  void anOverloadCollapsesAnUnlimitedUpstreamAndIsRefusedByEnvoysFilter() throws Exception {
    OverloadSummary summary = runBoth();
    String seen = screen.toString(StandardCharsets.UTF_8) + summary.json();
    assertThat(summary.rows()).as(seen).hasSize(1);
    Row row = summary.rows().getFirst();
    Figures none = row.of(Limiter.NONE);
    Figures envoy = row.of(Limiter.ENVOY);
    assertThat(none.offered()).as(seen).isEqualTo(envoy.offered()).isBetween(1_300L, 1_700L);
    assertThat(summary.goodput(row.phase(), none)).as(seen).isLessThan(0.1);
    assertThat(none.refused()).as(seen).isZero();
    assertThat(none.failed()).as(seen).isPositive();
    assertThat(none.p99Millis()).as(seen).hasValue(1000);
    assertThat(envoy.refused()).as(seen).isPositive();
    assertThat(envoy.limit().orElse(-1)).as(seen).isBetween(3, Limiter.HIGHEST);
    assertThat(progress)
        .containsExactly(
            "an upstream that can do 125 requests a second, behind each of 2 Envoys; phases: 2;"
                + " each takes 10 s, of which the last 6 s count: 0.2 min in all");
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  private OverloadSummary runBoth() throws Exception {
    return run(new EnvoyLookup.Found(EnvoyProgram.path(), "1.40.0"), "2", "none,envoy", "10");
  }

  @Test
  void failsWithoutAnEnvoy() {
    assertThatThrownBy(() -> run(new EnvoyLookup.Unavailable("no network"), "2", "none", "10"))
        .isInstanceOf(IOException.class)
        .hasMessage("no Envoy: no network");
    assertThat(progress).isEmpty();
  }

  private OverloadSummary run(EnvoyLookup envoy, String phases, String arms, String seconds)
      throws Exception {
    try (PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      return new Overload(new DemoEnvironment(_ -> envoy, progress::add), Capacity.USUAL)
          .run(OverloadPlan.of(phases, arms, seconds, 1), out, false);
    }
  }
}
