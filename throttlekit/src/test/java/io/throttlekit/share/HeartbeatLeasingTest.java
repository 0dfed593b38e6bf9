package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.FleetState.NodeKey;
import io.throttlekit.share.HeartbeatLeasing.Division;
import io.throttlekit.share.HeartbeatLeasing.PublishedDivision;
import io.throttlekit.share.HeartbeatLeasing.Reserve;
import io.throttlekit.share.HeartbeatLeasing.State;
import io.throttlekit.share.HeartbeatLeasing.Target;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The counterpart reproduces the published counts of synchronous leasing, with the published rules
 * and with {@link FleetState} in their place.
 */
@Tag("exploration")
class HeartbeatLeasingTest {
  private static final long MANY = 10_000;

  @ParameterizedTest(name = "{0} nodes, limit {1}")
  @CsvSource({
    "2, 4, 76, 379, 12",
    "2, 6, 149, 813, 15",
    "3, 4, 361, 2614, 15",
    "3, 6, 1432, 11524, 19",
    "3, 2, 103, 643, 7",
  })
  void sharesAndRequestsInFlightReachTheLimitAndNoMore(
      int nodes, int limit, long distinct, long generated, int depth) {
    Division published = new PublishedDivision(Target.CEILING, Reserve.OCCUPANCY);
    assertThat(Explorer.explore(new HeartbeatLeasing(nodes, limit, published, limit, limit), MANY))
        .isEqualTo(new Exploration(distinct, generated, depth, null));
    assertTight(nodes, limit, published, limit, limit);
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}")
  @CsvSource({"2, 4, 76", "2, 6, 149", "3, 4, 459", "3, 6, 1432", "3, 2, 119"})
  void fleetStateGrantsThePublishedEqualSharesInEveryState(int nodes, int limit, long distinct) {
    Exploration published =
        Explorer.explore(
            new HeartbeatLeasing(
                nodes, limit, new PublishedDivision(Target.EQUAL, Reserve.OCCUPANCY), limit, limit),
            MANY);
    assertThat(published.distinct()).isEqualTo(distinct);
    assertThat(published.violation()).isNull();
    for (boolean acknowledged : List.of(false, true)) {
      Division real = new RealDivision(Allocation.EQUAL, acknowledged);
      assertThat(Explorer.explore(new HeartbeatLeasing(nodes, limit, real, limit, limit), MANY))
          .isEqualTo(published);
      assertTight(nodes, limit, real, limit, limit);
    }
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}")
  @CsvSource({"2, 4, 112", "2, 6, 292", "3, 4, 635", "3, 6, 2547", "3, 2, 103"})
  void sharesByDemandKeepTheBoundsToo(int nodes, int limit, long distinct) {
    Exploration published =
        Explorer.explore(
            new HeartbeatLeasing(
                nodes,
                limit,
                new PublishedDivision(Target.DEMAND, Reserve.OCCUPANCY),
                limit,
                limit),
            MANY);
    assertThat(published.distinct()).isEqualTo(distinct);
    assertThat(published.violation()).isNull();
    Division real = new RealDivision(Allocation.DEMAND, true);
    Exploration seen =
        Explorer.explore(new HeartbeatLeasing(nodes, limit, real, limit, limit), MANY);
    assertThat(seen.violation()).isNull();
    // Not the same number: a node of ours makes room for the first permit of another one.
    assertThat(seen.distinct()).isGreaterThan(70);
    assertTight(nodes, limit, real, limit, limit);
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}")
  @CsvSource({
    "2, 4, 64, 6, 94, 6",
    "2, 6, 99, 9, 155, 9",
    "3, 4, 253, 6, 649, 8",
    "3, 6, 2497, 11, 3799, 11",
    "3, 2, 127, 3, 255, 4",
  })
  void withoutTheOccupancyOfOthersOrTheirSharesTheLimitIsExceeded(
      int nodes, int limit, long shareOnly, int mostInFlight, long uncapped, int mostShares) {
    Division byShare = new PublishedDivision(Target.CEILING, Reserve.SHARE_ONLY);
    assertThat(
            Explorer.explore(
                new HeartbeatLeasing(nodes, limit, byShare, limit, mostInFlight), MANY))
        .extracting(Exploration::distinct, Exploration::violation)
        .containsExactly(shareOnly, null);
    assertThat(broken(nodes, limit, byShare, limit, mostInFlight - 1)).isEqualTo("InflightCap");
    assertThat(broken(nodes, limit, byShare, limit, limit)).isEqualTo("InflightCap");

    Division free = new PublishedDivision(Target.CEILING, Reserve.NOTHING);
    int any = Integer.MAX_VALUE;
    assertThat(Explorer.explore(new HeartbeatLeasing(nodes, limit, free, mostShares, any), MANY))
        .extracting(Exploration::distinct, Exploration::violation)
        .containsExactly(uncapped, null);
    assertThat(broken(nodes, limit, free, mostShares - 1, any)).isEqualTo("GlobalCap");
    assertThat(broken(nodes, limit, free, limit, any)).isEqualTo("GlobalCap");
  }

  private static void assertTight(
      int nodes, int limit, Division division, int maxShares, int maxInFlight) {
    assertThat(broken(nodes, limit, division, maxShares - 1, maxInFlight)).isEqualTo("GlobalCap");
    assertThat(broken(nodes, limit, division, maxShares, maxInFlight - 1)).isEqualTo("InflightCap");
  }

  private static String broken(
      int nodes, int limit, Division division, int maxShares, int maxInFlight) {
    return String.valueOf(
        Explorer.explore(new HeartbeatLeasing(nodes, limit, division, maxShares, maxInFlight), MANY)
            .broken());
  }

  /** The share that a {@link FleetState} with the same nodes grants. */
  private record RealDivision(Allocation allocation, boolean acknowledged) implements Division {
    @Override
    public int share(State state, int limit, int node) {
      SortedMap<NodeKey, NodeState> nodes = new TreeMap<>();
      for (int other = 0; other < state.shares().size(); other++) {
        if (state.isActive(other)) {
          nodes.put(
              new NodeKey("n" + other, 7),
              node(limit, state.shares().get(other), state.inFlight().get(other)));
        }
      }
      Heartbeat beat =
          new Heartbeat(
              "k",
              "n" + node,
              7,
              2,
              limit,
              false,
              state.inFlight().get(node),
              state.inFlight().get(node),
              0,
              1,
              1_000,
              0,
              null,
              null);
      Coordination terms = new Coordination(Aggregate.POOLED, allocation, acknowledged);
      return new FleetState(nodes, limit, 0, null, 0, false)
          .heartbeat(terms, beat, 0)
          .grant()
          .share();
    }

    private static NodeState node(int limit, int share, int inFlight) {
      return new NodeState(
          limit, false, inFlight, inFlight, false, share, 1, share, 1, 1_000, 0, false, List.of());
    }
  }
}
