package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.federation.SimulatedLink.Weather;
import io.throttlekit.federation.SimulatedMesh.Plan;
import io.throttlekit.federation.SimulatedMesh.Region;
import io.throttlekit.federation.SimulatedMesh.Replica;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever networks, clocks and processes do, no window admits more than its limit. */
class FederationSimulationTest {
  private static final long MILLI = 1_000_000;
  private static final long WINDOW = 1_000;
  private static final Weather STORM = new Weather(MILLI, 60 * MILLI, 0.05, 0.05, 400 * MILLI);
  private static final Weather BREEZE = new Weather(MILLI / 10, 3 * MILLI, 0.02, 0.02, 5 * MILLI);

  @ParameterizedTest(name = "{0} regions of {1}, limit {2}, batch {3}, {4} leases, seed {5}")
  @CsvSource({
    "1, 1, 50, 8, 1, 1",
    "2, 1, 30, 4, 1, 2",
    "3, 1, 300, 8, 1, 3",
    "3, 2, 300, 8, 2, 4",
    "3, 4, 300, 8, 4, 5",
    "5, 3, 100, 16, 3, 6",
    "8, 2, 1000, 10, 2, 7",
    "32, 1, 500, 4, 1, 8",
    "128, 2, 2000, 8, 2, 9",
    "512, 1, 5000, 8, 1, 10",
  })
  void noWindowAdmitsMoreThanItsLimit(
      int regions, int processes, long limit, long batch, int regionalLeases, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Plan plan =
        new Plan(
            regions,
            processes,
            processes > 1,
            limit,
            batch,
            WINDOW,
            regionalLeases,
            BREEZE,
            STORM,
            true);
    SimulatedMesh mesh = new SimulatedMesh(plan, seed);
    long offeredPerWindow = 2 * limit;
    long gap = WINDOW * MILLI / offeredPerWindow;
    for (long step = 0; step < offeredPerWindow * 8; step++) {
      Region region = mesh.regions.get(skewed(random, regions));
      Replica replica = region.replicas.get(random.nextInt(processes));
      replica.request(random.nextInt(10) == 0 ? random.nextLong(1, 4) : 1);
      disturb(mesh, region, replica, random.nextInt((int) (offeredPerWindow * 2)));
      mesh.world.run(random.nextLong(2 * gap));
    }
    String run = "seed %d: %s".formatted(seed, mesh.admitted);
    assertThat(mesh.admitted.values()).as(run).allMatch(units -> units <= limit);
    assertThat(mesh.admitted.values()).as(run).anyMatch(units -> units * 2 > limit);
    assertThat(mesh.counted.failed).as("calls that failed, " + run).isPositive();
    assertThat(mesh.counted.forfeited).as("units forfeited, " + run).isPositive();
  }

  private static void disturb(SimulatedMesh mesh, Region region, Replica replica, int dice) {
    switch (dice) {
      case 0 -> replica.crash();
      case 1 -> replica.restart();
      case 2 -> region.loseEscrow();
      case 3, 4 -> {
        region.toCoordinator.cut(true);
        mesh.world.after(WINDOW * MILLI * 3 / 2, () -> region.toCoordinator.cut(false));
      }
      default -> {}
    }
  }

  /** Half of all requests are of one region. */
  private static int skewed(SplittableRandom random, int regions) {
    return random.nextBoolean() ? 0 : random.nextInt(regions);
  }

  /** The round trips are those that were published for two windows with the same batches. */
  @ParameterizedTest(name = "skew {0}")
  @CsvSource({"0, 92", "0.25, 90", "0.5, 83", "0.75, 102", "1, 76"})
  void demandThatIsEvenGetsItsWholeLimitAndWaitsOnce(double skew, long publishedTrips) {
    long limit = 300;
    long window = 10_000 * MILLI;
    Weather wire = new Weather(MILLI, 0, 0, 0, 400 * MILLI);
    SimulatedMesh mesh =
        new SimulatedMesh(new Plan(3, 1, true, limit, 8, 10_000, 1, wire, wire, true), 1);
    double hot = 1.0 / 3 + skew * 2 / 3;
    for (int r = 0; r < 3; r++) {
      double rate = limit * (r == 0 ? hot : (1 - hot) / 2);
      if (rate > 0) {
        long every = (long) (window / rate);
        mesh.regions.get(r).replicas.getFirst().evenly(every / 3 * (r + 1), every);
      }
    }
    mesh.world.run(2 * window);
    long trips = mesh.counted.trips;
    mesh.world.run(6 * window);
    List<Long> whole = List.copyOf(mesh.admitted.values()).subList(1, 8);
    assertThat(whole).as(whole::toString).allMatch(units -> units >= 299 && units <= limit);
    assertThat(mesh.counted.trips - trips).isLessThanOrEqualTo(3 * publishedTrips);
    assertThat(mesh.waits).as("one for each region").isLessThanOrEqualTo(3);
  }
}
