package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.federation.SimulatedLink.LinkProperties;
import io.throttlekit.federation.SimulatedMesh.Plan;
import io.throttlekit.federation.SimulatedMesh.Region;
import io.throttlekit.federation.SimulatedMesh.Replica;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** No window admits more than its limit under any faults of networks, clocks and processes. */
@Tag("exploration")
class FederationSimulationTest {
  private static final long MILLI = 1_000_000;
  private static final long WINDOW = 1_000;
  private static final LinkProperties BAD_LINK =
      new LinkProperties(MILLI, 60 * MILLI, 0.05, 0.05, 400 * MILLI);
  private static final LinkProperties GOOD_LINK =
      new LinkProperties(MILLI / 10, 3 * MILLI, 0.02, 0.02, 5 * MILLI);

  @ParameterizedTest(
      name = "{0} regions of {1}, limit {2}, batch {3}, {4} leases, regional only {5}, seed {6}")
  @CsvSource({
    "1, 1, 50, 8, 1, false, 1",
    "2, 1, 30, 4, 1, false, 2",
    "3, 1, 300, 8, 1, false, 3",
    "3, 2, 300, 8, 2, false, 4",
    "3, 4, 300, 8, 4, false, 5",
    "5, 3, 100, 16, 3, false, 6",
    "8, 2, 1000, 10, 2, false, 7",
    "8, 2, 1000, 10, 2, true, 11",
    "32, 1, 500, 4, 1, false, 8",
    "128, 2, 2000, 8, 2, false, 9",
    "512, 1, 5000, 8, 1, false, 10",
    "512, 3, 5000, 8, 3, true, 12",
  })
  void noWindowAdmitsMoreThanItsLimit(
      int regions,
      int processes,
      long limit,
      long batch,
      int regionalLeases,
      boolean regionalOnly,
      long seed) {
    Plan plan =
        new Plan(
            regions,
            processes,
            processes > 1,
            limit,
            batch,
            WINDOW,
            regionalLeases,
            GOOD_LINK,
            BAD_LINK,
            true,
            regionalOnly);
    SimulatedMesh mesh = new SimulatedMesh(plan, seed);
    storm(mesh, plan, seed);
    String run = "seed %d: %s".formatted(seed, mesh.admitted);
    assertThat(mesh.admitted.values()).as(run).allMatch(units -> units <= limit);
    assertThat(mesh.admitted.values()).as(run).anyMatch(units -> units * 2 > limit);
    assertThat(mesh.counted.failed).as("calls that failed, " + run).isPositive();
    assertThat(mesh.counted.forfeited).as("units forfeited, " + run).isPositive();
  }

  /** Shows that the runs above include the events that they are meant to include. */
  @ParameterizedTest(name = "{0} regions of {1}, limit {2}, seed {3}")
  @CsvSource({"8, 4, 4000, 15", "512, 3, 5000, 14"})
  void theSimulationReachesEveryFault(int regions, int processes, long limit, long seed) {
    Plan plan =
        new Plan(regions, processes, true, limit, 8, WINDOW, 4, GOOD_LINK, BAD_LINK, true, true);
    SimulatedMesh mesh = new SimulatedMesh(plan, seed);
    storm(mesh, plan, seed);
    String run = "seed %d".formatted(seed);
    assertThat(mesh.admitted.values()).as(run).allMatch(units -> units <= limit);
    SimulatedMesh.Counted counted = mesh.counted;
    assertThat(counted.refills.lost).as("refills lost, " + run).isPositive();
    assertThat(counted.refills.answersLost).as("answers to refills lost, " + run).isPositive();
    assertThat(counted.refills.twice).as("duplicate refills, " + run).isPositive();
    assertThat(counted.refilled).as("units put in, " + run).isPositive();
    assertThat(counted.fromEscrow).as("units taken out, " + run).isPositive();
    assertThat(counted.far.answersLost).as("answers lost, " + run).isPositive();
    assertThat(counted.far.twice).as("duplicate calls, " + run).isPositive();
    assertThat(counted.far.cut).as("lost in a partition, " + run).isPositive();
    assertThat(counted.leftAlone).as("coordinator breaker open, " + run).isPositive();
    assertThat(counted.returns).as("returns sent, " + run).isPositive();
    assertThat(counted.returned).as("units returned in time, " + run).isPositive();
    assertThat(counted.late).as("units returned too late, " + run).isPositive();
    assertThat(counted.partial).as("grants in part, " + run).isPositive();
    assertThat(mesh.regions)
        .as("clocks that differ by more than a window, " + run)
        .anyMatch(region -> region.skewMillis() > WINDOW);
  }

  /** Sends requests for twice the limit during eight windows, with random events in between. */
  private static void storm(SimulatedMesh mesh, Plan plan, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long offeredPerWindow = 2 * plan.limit();
    long gap = WINDOW * MILLI / offeredPerWindow;
    for (long step = 0; step < offeredPerWindow * 8; step++) {
      Region region = mesh.regions.get(skewed(random, plan.regions()));
      Replica replica = region.replicas.get(random.nextInt(plan.processes()));
      replica.request(random.nextInt(10) == 0 ? random.nextLong(1, 4) : 1);
      disturb(mesh, region, replica, random.nextInt((int) (offeredPerWindow * 2)));
      mesh.world.run(random.nextLong(2 * gap));
    }
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

  /** Sends half of all requests to one region. */
  private static int skewed(SplittableRandom random, int regions) {
    return random.nextBoolean() ? 0 : random.nextInt(regions);
  }

  /** The round trips are those published for two windows with the same batches. */
  @ParameterizedTest(name = "skew {0}")
  @CsvSource({"0, 92", "0.25, 90", "0.5, 83", "0.75, 102", "1, 76"})
  void evenDemandGetsTheFullLimitAndWaitsOnce(double skew, long publishedTrips) {
    long limit = 300;
    long window = 10_000 * MILLI;
    LinkProperties wire = new LinkProperties(MILLI, 0, 0, 0, 400 * MILLI);
    SimulatedMesh mesh =
        new SimulatedMesh(new Plan(3, 1, true, limit, 8, 10_000, 1, wire, wire, true, false), 1);
    double hot = 1.0 / 3 + skew * 2 / 3;
    for (int r = 0; r < 3; r++) {
      double rate = limit * (r == 0 ? hot : (1 - hot) / 2);
      if (rate > 0) {
        long every = (long) (window / rate);
        mesh.regions.get(r).replicas.getFirst().evenly(every / 3 * (r + 1), every);
      }
    }
    mesh.world.run(2 * window);
    long trips = mesh.counted.trips();
    mesh.world.run(6 * window);
    List<Long> whole = List.copyOf(mesh.admitted.values()).subList(1, 8);
    assertThat(whole).as(whole::toString).allMatch(units -> units >= 299 && units <= limit);
    assertThat(mesh.counted.trips() - trips)
        .as("leases and returns")
        .isLessThanOrEqualTo(3 * publishedTrips);
    assertThat(mesh.waits).as("one for each region").isLessThanOrEqualTo(3);
  }
}
