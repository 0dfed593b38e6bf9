package io.throttlekit.demo.overload;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.demo.DemoEnvironment;
import io.throttlekit.demo.load.Capacity;
import io.throttlekit.demo.load.Course.Figures;
import io.throttlekit.demo.overload.OverloadSummary.Row;
import io.throttlekit.testkit.envoy.EnvoyLookup;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs one phase of {@code bin/demo --overload}: twice the capacity of the upstream, for 21 s, and
 * for 90 s with the profile {@code thorough}; the last two thirds count. A run that misses its
 * targets while the machine stalls reveals nothing about the limit algorithm, and is repeated at
 * most twice.
 */
@RealEnvoy
@Tag("alone")
class OverloadPhaseTest {
  private static final double GOODPUT = 0.95;
  private static final long SERVICE_MILLIS = Capacity.USUAL.service().toMillis();
  private static final int RUNS = 3;
  private static final int SECONDS = Boolean.getBoolean("throttlekit.thorough") ? 90 : 21;

  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();

  @Test
  @Timeout(480)
  void theServiceProtectsTheUpstreamByItsSensors() throws Exception {
    OverloadSummary summary = run();
    for (int runs = 1; runs < RUNS && missedOnABusyMachine(summary); runs++) {
      summary = run();
    }
    String seen = screen.toString(StandardCharsets.UTF_8) + summary.json();
    assertThat(summary.rows()).as(seen).hasSize(1);
    Row row = summary.rows().getFirst();
    Figures ours = row.of(Limiter.OURS);
    assertThat(summary.counted()).isEqualTo(SECONDS * 2 / 3);
    assertThat(summary.goodput(row.phase(), ours)).as(seen).isGreaterThanOrEqualTo(GOODPUT);
    assertThat((long) ours.p99Millis().orElseThrow())
        .as(seen)
        .isLessThanOrEqualTo(5 * SERVICE_MILLIS);
    assertThat(ours.limit().orElseThrow()).as(seen).isBetween(4, Limiter.HIGHEST - 1);
    assertThat(ours.refused()).as(seen).isPositive();
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  /**
   * Returns whether targets were missed while requests were delayed by a service time because the
   * machine was busy.
   */
  private static boolean missedOnABusyMachine(OverloadSummary summary) {
    Row row = summary.rows().getFirst();
    Figures ours = row.of(Limiter.OURS);
    boolean missed =
        summary.goodput(row.phase(), ours) < GOODPUT
            || ours.p99Millis().orElseThrow() > 5 * SERVICE_MILLIS;
    return missed && summary.latestMillis() > SERVICE_MILLIS;
  }

  private OverloadSummary run() throws Exception {
    EnvoyLookup envoy = new EnvoyLookup.Found(EnvoyProgram.path(), "1.40.0");
    try (PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      return new Overload(new DemoEnvironment(_ -> envoy, _ -> {}), Capacity.USUAL)
          .run(OverloadPlan.of("2", "ours", String.valueOf(SECONDS), 1), out, false);
    }
  }
}
