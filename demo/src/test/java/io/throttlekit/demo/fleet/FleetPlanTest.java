package io.throttlekit.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FleetPlanTest {

  @Test
  void hasTwoLoadsOfTwoMinutesOnRedisWithoutOptions() {
    assertThat(FleetPlan.of("3", null, null, null, null, null, 7))
        .isEqualTo(
            new FleetPlan(3, Gate.ENVOY, StoreKind.REDIS, Fault.KILL, List.of(2, 5), 120, 7));
  }

  @Test
  void dividesTheSecondsAmongTheLoads() {
    FleetPlan plan = FleetPlan.of("2", "service", "postgresql", "cut", "5,2", "100", 1);
    assertThat(plan)
        .isEqualTo(
            new FleetPlan(2, Gate.SERVICE, StoreKind.POSTGRESQL, Fault.CUT, List.of(5, 2), 50, 1));
    assertThat(plan.seconds()).isEqualTo(100);
    assertThat(plan.load(49)).isEqualTo(5);
    assertThat(plan.load(50)).isEqualTo(2);
  }
}
