package io.throttlekit.simulator.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The classic picture in fleets, in virtual time; seed 1 unless a test says otherwise. */
class FleetSharesTest {
  private static final int GOLD = 0;
  private static final long LEASE = 10;
  private static final long OF_PROCESSES = 3 * LEASE;

  /** Six processes. What they lease for the escrows as well is returned in time. */
  private static final long OF_REGIONS = 6 * LEASE;

  private static final FleetShape PROCESSES = FleetShape.ofProcesses();
  private static final FleetShape REGIONS = FleetShape.ofRegions();

  @ParameterizedTest
  @EnumSource(Spread.class)
  void inThreeProcessesATenantLacksAtMostOneLeaseOfEach(Spread spread) {
    FairCourse course = play(FairScenario.nextWindow(), PROCESSES.with(spread), 1);
    assertFair(course, OF_PROCESSES);
    assertThat(course.utilization()).isGreaterThan(0.95);
  }

  @ParameterizedTest
  @EnumSource(Spread.class)
  void inThreeRegionsATenantLacksAtMostOneLeaseOfEachProcess(Spread spread) {
    FairCourse course = play(FairScenario.nextWindow(), REGIONS.with(spread), 1);
    assertFair(course, OF_REGIONS);
    assertThat(course.utilization()).isGreaterThan(0.93);
  }

  @Test
  void unitsThatAreKeptAreMissingInTheNextRegion() {
    FleetShape keeping = REGIONS.with(Spread.MOVING).with(FleetShape.LEASE, 0);
    FairCourse course = play(FairScenario.nextWindow(), keeping, 1);
    assertThat(course.worstMissing()).isGreaterThan(OF_REGIONS);
    assertThat(course.utilization()).isLessThan(0.85);
  }

  @ParameterizedTest
  @EnumSource(Spread.class)
  void unitsThatARegionReturnsAreOfUseToTheNextOneInTheSameWindow(Spread spread) {
    assertFair(play(FairScenario.slowly(), REGIONS.with(spread), 1), 2 * LEASE);
  }

  @Test
  void idleUnitsAreReturnedAtTheCostOfFewCalls() {
    FairScenario scenario = FairScenario.nextWindow();
    double kept = play(scenario, REGIONS.with(FleetShape.LEASE, 0), 1).callsPerRequest();
    double returned = play(scenario, REGIONS, 1).callsPerRequest();
    assertThat(returned).isBetween(kept, 1.4 * kept);
  }

  @Test
  void aTenantThatComesBackWithinAWindowWaitsForTheNextOneInAFleetToo() {
    FairCourse course = play(FairScenario.sameWindow(), PROCESSES, 1);
    assertThat(course.admitted(GOLD, 15)).isLessThan(LEASE);
    assertThat(course.admitted(GOLD, 16)).isGreaterThanOrEqualTo(400 - OF_PROCESSES);
  }

  @Test
  void otherWaysStarveATenantOrLeaveUnitsUnused() {
    FairCourse firstCome = play(PROCESSES, Division.FIRST_COME);
    assertThat(firstCome.worstShortfall()).isGreaterThan(0.8);
    assertWithinLimit(firstCome);
    assertThat(play(REGIONS, Division.FIRST_COME).worstShortfall()).isGreaterThan(0.7);
    assertThat(play(PROCESSES, Division.STATIC).utilization()).isLessThan(0.85);
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(Spread.class)
  void atTwentySeedsATenantLacksAtMostOneLeaseOfEachProcess(Spread spread) {
    LongStream.rangeClosed(1, 20)
        .forEach(seed -> {
          FairScenario scenario = FairScenario.nextWindow();
          assertFair(play(scenario, PROCESSES.with(spread), seed), OF_PROCESSES);
          assertFair(play(scenario, REGIONS.with(spread), seed), OF_REGIONS);
        });
  }

  private static void assertFair(FairCourse course, long missing) {
    assertWithinLimit(course);
    assertThat(course.worstMissing()).isLessThanOrEqualTo(missing);
    assertThat(course.jain()).isGreaterThan(0.98);
  }

  private static void assertWithinLimit(FairCourse course) {
    FairScenario scenario = course.scenario();
    for (int window = 0; window < scenario.windows(); window++) {
      long all = 0;
      for (int tenant = 0; tenant < scenario.tenants().size(); tenant++) {
        all += course.admitted(tenant, window);
      }
      assertThat(all).as("window %d", window).isLessThanOrEqualTo(scenario.limit());
    }
  }

  private static FairCourse play(FleetShape shape, Division division) {
    return FairCourse.play(FairScenario.nextWindow(), shape.sharing("tested", division), 1);
  }

  private static FairCourse play(FairScenario scenario, FleetShape shape, long seed) {
    return FairCourse.play(scenario, shape.sharing("tested", Division.FAIR), seed);
  }
}
