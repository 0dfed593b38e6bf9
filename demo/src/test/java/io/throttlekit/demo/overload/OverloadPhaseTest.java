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

/**
 * Runs one phase of {@code bin/demo --overload}: twice the capacity of the upstream, for 21 s, and
 * for 90 s with the profile {@code thorough}; the last two thirds count. A run that misses its
 * targets while requests are sent late reveals nothing about the limit algorithm. Everything is
 * slower by a factor of two in the next run then, until the machine's delays are small beside it.
 */
@RealEnvoy
@Tag("alone")
class OverloadPhaseTest {
  private static final double GOODPUT = 0.95;
  private static final long SERVICE_MILLIS = Capacity.USUAL.service().toMillis();
  private static final int MAX_TIMES_SLOWER = 16;
  private static final int SECONDS = Boolean.getBoolean("throttlekit.thorough") ? 90 : 21;

  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();

  @Test
  void theServiceProtectsTheUpstreamByItsSensors() throws Exception {
    int slower = 1;
    OverloadSummary summary = run(slower);
    while (slower < MAX_TIMES_SLOWER && missedOnABusyMachine(summary)) {
      slower *= 2;
      summary = run(slower);
    }
    String seen = screen.toString(StandardCharsets.UTF_8) + summary.json();
    assertThat(summary.rows()).as(seen).hasSize(1);
    Row row = summary.rows().getFirst();
    Figures ours = row.of(Limiter.OURS);
    assertThat(summary.counted()).isEqualTo(slower * SECONDS * 2 / 3);
    assertThat(summary.goodput(row.phase(), ours)).as(seen).isGreaterThanOrEqualTo(GOODPUT);
    assertThat((long) ours.p99Millis().orElseThrow())
        .as(seen)
        .isLessThanOrEqualTo(5L * slower * SERVICE_MILLIS);
    assertThat(ours.limit().orElseThrow()).as(seen).isBetween(4, Limiter.HIGHEST - 1);
    assertThat(ours.refused()).as(seen).isPositive();
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  /**
   * Returns whether targets were missed while requests were delayed by half a service time because
   * the machine was busy.
   */
  private static boolean missedOnABusyMachine(OverloadSummary summary) {
    Row row = summary.rows().getFirst();
    Figures ours = row.of(Limiter.OURS);
    long serviceMillis = summary.capacity().service().toMillis();
    boolean missed =
        summary.goodput(row.phase(), ours) < GOODPUT
            || ours.p99Millis().orElseThrow() > 5 * serviceMillis;
    return missed && summary.latestMillis() > serviceMillis / 2;
  }

  private OverloadSummary run(int slower) throws Exception {
    Capacity capacity =
        new Capacity(
            Capacity.USUAL.workers(),
            Capacity.USUAL.service().multipliedBy(slower),
            Capacity.USUAL.lengths());
    EnvoyLookup envoy = new EnvoyLookup.Found(EnvoyProgram.path(), "1.40.0");
    try (PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      return new Overload(new DemoEnvironment(_ -> envoy, _ -> {}), capacity)
          .run(OverloadPlan.of("2", "ours", String.valueOf(slower * SECONDS), 1), out, false);
    }
  }
}
