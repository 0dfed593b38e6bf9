package io.throttlekit.simulator.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.lease.sizing.LeaseSize;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The classic picture in fleets, in virtual time; seed 1 but where it says otherwise. */
class FleetSharesTest {
  private static final int GOLD = 0;
  private static final long LEASE = 10;
  private static final FleetShape PROCESSES = FleetShape.ofProcesses();
  private static final FleetShape REGIONS = FleetShape.ofRegions();

  @ParameterizedTest
  @EnumSource(Spread.class)
  void threeProcessesLackAtMostOneLeaseEachOfAGuarantee(Spread spread) {
    assertFair(PROCESSES.with(spread), 1);
  }

  @ParameterizedTest
  @EnumSource(Spread.class)
  void threeRegionsLackAtMostOneLeaseOfEachProcess(Spread spread) {
    assertFair(REGIONS.with(spread), 1);
  }

  @Test
  void aFloodStarvesAFleetWithoutFairShares() {
    for (FleetShape shape : new FleetShape[] {PROCESSES, REGIONS}) {
      FairCourse course = play(FairScenario.nextWindow(), shape, Division.FIRST_COME, 1);
      assertThat(course.worstShortfall()).isGreaterThan(0.8);
      assertWithinLimit(course);
    }
  }

  private static void assertFair(FleetShape shape, long seed) {
    FairCourse course = play(FairScenario.nextWindow(), shape, Division.FAIR, seed);
    assertWithinLimit(course);
    assertThat(course.worstMissing())
        .isLessThanOrEqualTo(shape.regions() * shape.processes() * LEASE);
    assertThat(course.jain()).isGreaterThan(0.98);
    assertThat(course.utilization()).isGreaterThan(0.93);
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

  private static FairCourse play(
      FairScenario scenario, FleetShape shape, Division division, long seed) {
    return FairCourse.play(scenario, shape.sharing("tested", division), seed);
  }
}
