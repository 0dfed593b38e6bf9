package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.federation.SimulatedLink.Weather;
import io.throttlekit.federation.SimulatedMesh.Plan;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** However late answers come, demand beyond the limit uses the whole limit up, and no more. */
class FederationUtilizationTest {
  private static final long MILLI = 1_000_000;
  private static final int WINDOWS = 6;

  @ParameterizedTest(name = "windows of {0} ms, {1} processes, limit {2}, loss {3}, seed {4}")
  @CsvSource({
    "1000, 1, 10000, 0, 1",
    "1000, 2, 10000, 0, 2",
    "1000, 2, 20000, 0, 3",
    "1000, 2, 10000, 0.01, 7",
    "60000, 2, 10000, 0, 4",
    "60000, 2, 10000, 0.01, 8",
    "86400000, 1, 10000, 0, 5",
    "86400000, 2, 10000, 0.01, 6",
  })
  void lateAnswersLoseNothing(
      long windowMillis, int processes, long limit, double loss, long seed) {
    Weather near = new Weather(0, 50 * MILLI, loss, 0, 5 * MILLI);
    Weather far = new Weather(0, 50 * MILLI, loss, 0, 2_000 * MILLI);
    Plan plan = new Plan(3, processes, true, limit, 0, windowMillis, 4, near, far, true, false);
    SimulatedMesh mesh = new SimulatedMesh(plan, seed);
    long every = windowMillis * MILLI * processes / (2 * limit);
    for (var region : mesh.regions) {
      int replica = 0;
      for (var each : region.replicas) {
        each.evenly(every / processes * ++replica, every);
      }
    }
    mesh.world.run((WINDOWS + 1) * windowMillis * MILLI);
    // Not the window in which it began, nor the first whole one, of which the pace is not known
    // yet.
    List<Long> whole = List.copyOf(mesh.admitted.values()).subList(2, WINDOWS + 1);
    String run = "seed %d: %s".formatted(seed, mesh.admitted);
    assertThat(mesh.admitted.values()).as(run).allMatch(units -> units <= limit);
    assertThat(whole).as(run).allMatch(units -> units >= limit * 0.995);
  }
}
