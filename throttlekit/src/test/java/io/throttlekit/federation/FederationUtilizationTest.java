package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.federation.SimulatedLink.LinkProperties;
import io.throttlekit.federation.SimulatedMesh.Plan;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Demand beyond the limit uses the full limit and no more, with answers of any delay. */
@Tag("exploration")
class FederationUtilizationTest {
  private static final long MILLI = 1_000_000;
  private static final int WINDOWS = 6;
  private static final int FIRST_WINDOWS = Boolean.getBoolean("throttlekit.thorough") ? 24 : 3;

  @ParameterizedTest(name = "windows of {0} ms, {1} processes, limit {2}, loss {3}, seed {4}")
  @CsvSource({
    "1000, 2, 10000, 0, 2",
    "1000, 2, 10000, 0.01, 7",
    "60000, 2, 10000, 0.01, 8",
    "86400000, 1, 10000, 0, 5",
  })
  void lateAnswersLoseNoUnits(
      long windowMillis, int processes, long limit, double loss, long seed) {
    LinkProperties near = new LinkProperties(0, 50 * MILLI, loss, 0, 5 * MILLI);
    LinkProperties far = new LinkProperties(0, 50 * MILLI, loss, 0, 2_000 * MILLI);
    Plan plan = new Plan(3, processes, true, limit, 0, windowMillis, 4, near, far, true, false);
    SimulatedMesh mesh = run(plan, WINDOWS + 1, seed);
    // With windows of a second only from the second whole one on: see the test below.
    int first = windowMillis == 1_000 ? 2 : 1;
    List<Long> whole = List.copyOf(mesh.admitted.values()).subList(first, WINDOWS + 1);
    String run = "seed %d: %s".formatted(seed, mesh.admitted);
    assertThat(mesh.admitted.values()).as(run).allMatch(units -> units <= limit);
    double mean = whole.stream().mapToLong(Long::longValue).average().orElseThrow();
    assertThat(mean).as(run).isGreaterThanOrEqualTo(limit * 0.995);
    // Lost messages cost single windows of a second more: 0.972 was seen once, 0.993 once in 240.
    double least = loss > 0 && windowMillis == 1_000 ? 0.95 : 0.995;
    assertThat(whole).as(run).allMatch(units -> units >= limit * least);
  }

  @ParameterizedTest(name = "windows of {0} ms, {1} processes, limit {2}, {3} lost, seed {4}")
  @CsvSource({
    "1000, 1, 10000, 0, 1",
    "1000, 2, 20000, 0, 3",
    "60000, 2, 10000, 0, 4",
    "86400000, 2, 10000, 0.01, 6",
  })
  @Tag("thorough")
  void lateAnswersLoseNoUnitsInFurtherPlans(
      long windowMillis, int processes, long limit, double loss, long seed) {
    lateAnswersLoseNoUnits(windowMillis, processes, limit, loss, seed);
  }

  /**
   * A key's first window that was not used up spends its units together with units of the next
   * window while it may be over; the next window then lacks those.
   */
  @ParameterizedTest(name = "{0} processes, limit {1}")
  @CsvSource({"1, 10000", "2, 10000", "2, 20000"})
  void theFirstWholeWindowOfASecondMayLoseAThirtieth(int processes, long limit) {
    LinkProperties late = new LinkProperties(0, 50 * MILLI, 0, 0, 2_000 * MILLI);
    Plan plan = new Plan(3, processes, true, limit, 0, 1_000, 4, late, late, true, false);
    double sum = 0;
    double first = 1;
    double second = 1;
    for (long seed = 1; seed <= FIRST_WINDOWS; seed++) {
      SimulatedMesh mesh = run(plan, 4.2, seed);
      String run = "seed %d: %s".formatted(seed, mesh.admitted);
      List<Double> utilization =
          mesh.admitted.values().stream().map(units -> units / (double) limit).toList();
      assertThat(utilization).as(run).allMatch(each -> each <= 1);
      assertThat(utilization.get(3)).as(run).isGreaterThanOrEqualTo(0.995);
      first = Math.min(first, utilization.get(1));
      second = Math.min(second, utilization.get(2));
      sum += utilization.get(1);
    }
    System.out.printf(
        "%d processes, limit %d: first whole window %.4f or more, mean %.4f; second %.4f or more%n",
        processes, limit, first, sum / FIRST_WINDOWS, second);
    assertThat(sum / FIRST_WINDOWS).isGreaterThan(0.985);
    // The least measured was 0.970. It depends on the JVM, as a key's hash does, which spreads
    // leases.
    assertThat(first).isGreaterThan(0.955);
    assertThat(second).isGreaterThanOrEqualTo(0.995);
  }

  /** Runs regions that each want twice the limit, evenly. */
  private static SimulatedMesh run(Plan plan, double windows, long seed) {
    SimulatedMesh mesh = new SimulatedMesh(plan, seed);
    long windowNanos = plan.windowMillis() * MILLI;
    long every = windowNanos * plan.processes() / (2 * plan.limit());
    for (var region : mesh.regions) {
      int replica = 0;
      for (var each : region.replicas) {
        each.evenly(every / plan.processes() * ++replica, every);
      }
    }
    mesh.world.run(Math.round(windows * windowNanos));
    return mesh;
  }
}
