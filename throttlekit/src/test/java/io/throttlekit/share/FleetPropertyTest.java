package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.SimulatedFleet.Event;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The invariants of {@link FleetState}, over seeded histories of fleets with faults. */
@Tag("exploration")
class FleetPropertyTest {
  private static final int[] SIZES = {1, 2, 3, 8, 16, 64};
  private static final int SEEDS = 4;

  @ParameterizedTest
  @EnumSource
  void requestsInFlightNeverExceedAConstantLimit(Allocation allocation) {
    for (int nodes : SIZES) {
      for (long seed = 1; seed <= SEEDS; seed++) {
        int limit = limit(nodes, seed);
        SimulatedFleet fleet = fleet(seed, allocation, nodes, limit, false);
        for (int step = 0; step < steps(nodes); step++) {
          fleet.step();
          String where = where(nodes, limit, seed, step);
          assertThat(fleet.inFlight()).as(where).isLessThanOrEqualTo(limit);
          assertThat(fleet.reserved()).as(where).isLessThanOrEqualTo(limit);
          assertThat(fleet.uncovered()).as(where).isNull();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void sharesOnlyFallWhileTheyExceedALimitThatMoves(Allocation allocation) {
    for (int nodes : SIZES) {
      for (long seed = 1; seed <= SEEDS; seed++) {
        int limit = limit(nodes, seed);
        SimulatedFleet fleet = fleet(seed, allocation, nodes, limit, true);
        for (int step = 0; step < steps(nodes); step++) {
          long reserved = fleet.reserved();
          long shares = fleet.shares();
          fleet.step();
          String where = where(nodes, limit, seed, step);
          int now = Math.max(limit, fleet.fleet().limit());
          assertThat(fleet.reserved()).as(where).isLessThanOrEqualTo(Math.max(now, reserved));
          assertThat(fleet.shares()).as(where).isLessThanOrEqualTo(Math.max(now, shares));
          assertThat(fleet.uncovered()).as(where).isNull();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void withoutFaultsEachPermitIsGrantedAfterSomeHeartbeats(Allocation allocation) {
    for (int nodes : SIZES) {
      for (long seed = 1; seed <= SEEDS; seed++) {
        int limit = limit(nodes, seed);
        SimulatedFleet fleet = fleet(seed, allocation, nodes, limit, true);
        for (int step = 0; step < steps(nodes); step++) {
          fleet.step();
        }
        fleet.calm(3, 30 * SimulatedFleet.INTERVAL_MILLIS);
        String where = where(nodes, limit, seed, steps(nodes));
        FleetState state = fleet.fleet();
        assertThat(state.nodes()).as(where).hasSize(nodes);
        assertThat(fleet.shares()).as(where).isLessThanOrEqualTo(state.limit());
        assertThat(fleet.reserved()).as(where).isLessThanOrEqualTo(state.limit());
        if (allocation == Allocation.EQUAL) {
          assertThat(fleet.shares()).as(where).isEqualTo(state.limit());
        }
        if (state.limit() >= nodes) {
          assertThat(state.nodes().values())
              .as(where)
              .extracting(NodeState::share)
              .doesNotContain(0);
        }
      }
    }
  }

  @Test
  void theHistoriesReachTheRelevantCases() {
    Map<Event, Integer> reached = new EnumMap<>(Event.class);
    for (int nodes : SIZES) {
      for (long seed = 1; seed <= SEEDS; seed++) {
        SimulatedFleet fleet = fleet(seed, Allocation.DEMAND, nodes, limit(nodes, seed), true);
        for (int step = 0; step < steps(nodes); step++) {
          fleet.step();
        }
        fleet.reached().forEach((event, times) -> reached.merge(event, times, Integer::sum));
      }
    }
    assertThat(reached).containsOnlyKeys(Event.values());
    assertThat(reached.values()).as("%s", reached).allMatch(times -> times > 20);
  }

  private static SimulatedFleet fleet(
      long seed, Allocation allocation, int nodes, int limit, boolean limitMoves) {
    Coordination terms = new Coordination(Aggregate.POOLED, allocation, true);
    return new SimulatedFleet(seed, terms, nodes, limit, limitMoves);
  }

  /** Returns a limit below, at or above the number of nodes. */
  private static int limit(int nodes, long seed) {
    return Math.max(1, (int) (nodes * seed * seed / 3));
  }

  private static int steps(int nodes) {
    return 4_000 + 200 * nodes;
  }

  private static String where(int nodes, int limit, long seed, int step) {
    return "%s nodes, limit %s, seed %s, step %s".formatted(nodes, limit, seed, step);
  }
}
