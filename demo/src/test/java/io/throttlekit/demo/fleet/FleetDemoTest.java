package io.throttlekit.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.demo.DemoEnvironment;
import io.throttlekit.demo.load.Capacity;
import io.throttlekit.testkit.envoy.EnvoyLookup;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.redis.RealRedis;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Uses real processes. Goodput is measured for longer: docs/CONCURRENCY.md. */
@RealEnvoy
@RealRedis
class FleetDemoTest {
  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
  private final List<String> progress = new ArrayList<>();

  @Test
  @Tag("thorough")
  void anotherReplicaSteersAfterTheSteeringOneWasKilled() throws Exception {
    FleetSummary summary = run(new EnvoyLookup.Found(EnvoyProgram.path(), "1.40.0"));
    String seen = screen.toString(StandardCharsets.UTF_8) + summary.textAndJson();
    System.out.println(seen);
    assertThat(progress).as(seen).hasSize(1);
    assertThat(seen)
        .contains("killed " + summary.rows().getFirst().faulty() + ", which steered")
        .containsPattern("[abc] steers; limit \\d+; shares of ");
    assertThat(summary.rows()).as(seen).hasSize(1);
    FleetSummary.Row row = summary.rows().getFirst();
    assertThat(row.next()).as(seen).isNotEmpty().isNotEqualTo(row.faulty());
    assertThat(row.before().figures().good()).as(seen).isPositive();
    assertThat(row.during().figures().good()).as(seen).isPositive();
    assertThat(row.after().figures().good()).as(seen).isPositive();
    assertThat(row.after().figures().refused()).as(seen).isPositive();
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  @Test
  void failsWithoutAnEnvoy() {
    assertThatThrownBy(() -> run(new EnvoyLookup.Unavailable("no network")))
        .isInstanceOf(IOException.class)
        .hasMessage("no Envoy: no network");
    assertThat(progress).isEmpty();
  }

  private FleetSummary run(EnvoyLookup envoy) throws Exception {
    FleetPlan plan = FleetPlan.of("3", null, null, null, "2", "40", 1);
    try (PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      return new FleetDemo(new DemoEnvironment(_ -> envoy, progress::add), Capacity.USUAL)
          .run(plan, out);
    }
  }
}
