package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.ShareGrant.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The behaviour of every {@link ConcurrencyCoordinator}: published rows of heartbeats and their
 * shares, and random ones that are answered as {@link FleetState} answers them.
 */
public abstract class ConcurrencyCoordinatorConformance extends SteeringConformance {
  private static final int STEPS = 250;

  @Test
  void twoNodesDivideTheLimitOnceTheFirstOneHasReportedAgain() {
    ConcurrencyCoordinator coordinator = coordinator(PUBLISHED);
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    assertGrant(n1.beat(8, 1), 8, 8, 1);
    assertGrant(n2.beat(8, 2), 0, 8, 2);
    assertGrant(n1.beat(8, 4), 4, 8, 2);
    assertGrant(n2.beat(8, 4), 4, 8, 2);
  }

  @Test
  void theFirstNodeByIdGetsThePermitThatIsLeft() {
    ConcurrencyCoordinator coordinator = coordinator(PUBLISHED);
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    assertThat(shares(9, n1, n2, n1, n2)).containsExactly(9, 0, 5, 4);
  }

  @Test
  void requestsAboveALoweredShareAreReserved() {
    ConcurrencyCoordinator coordinator = coordinator(PUBLISHED);
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    assertThat(shares(10, n1, n2, n1)).containsExactly(10, 0, 5);
    assertThat(n1.beat(10, 9).share()).isEqualTo(5);
    assertThat(n2.beat(10, 0).share()).as("5 by shares only").isEqualTo(1);
  }

  @Test
  void nodesThatJoinAFullFleetWaitForTheOthers() {
    ConcurrencyCoordinator coordinator = coordinator(PUBLISHED);
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    FleetNode n3 = new FleetNode(coordinator, "n3", 1);
    FleetNode n4 = new FleetNode(coordinator, "n4", 1);
    assertThat(shares(7, n1, n2, n3, n4, n1, n4)).containsExactly(7, 0, 0, 0, 2, 1);
  }

  @Test
  void nodesAreOrderedByIdAndNotByWhenTheyJoined() {
    ConcurrencyCoordinator coordinator = coordinator(PUBLISHED);
    FleetNode z = new FleetNode(coordinator, "z", 1);
    FleetNode m = new FleetNode(coordinator, "m", 1);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    assertThat(shares(5, z, m, a, z)).containsExactly(5, 0, 0, 1);
  }

  @Test
  void theSmallestLimitIsTheFleets() {
    ConcurrencyCoordinator coordinator = coordinator(PUBLISHED);
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    assertGrant(n1.beat(20, 0), 20, 20, 1);
    assertGrant(n2.beat(18, 0), 0, 18, 2);
    assertGrant(n1.beat(4, 0), 2, 4, 2);
    assertGrant(n2.beat(18, 0), 2, 4, 2);
  }

  @Test
  void aFallingLimitLowersAShareToItsTargetWhereThePublishedRuleLowersItToZero() {
    for (Allocation allocation : Allocation.values()) {
      ConcurrencyCoordinator coordinator =
          coordinator(new Coordination(Aggregate.MIN, allocation, true));
      FleetNode n1 = new FleetNode(coordinator, "n1", 1);
      FleetNode n2 = new FleetNode(coordinator, "n2", 1);
      for (int i = 0; i < 3; i++) {
        busy(8, n1, 4);
        busy(8, n2, 4);
      }
      assertThat(busy(4, n1, 4)).as("4 of 4 are reserved for n2, %s", allocation).isEqualTo(2);
      assertThat(busy(4, n2, 4)).as("%s", allocation).isEqualTo(2);
      assertThat(busy(4, n1, 2)).as("%s", allocation).isEqualTo(2);
    }
  }

  @Test
  void aFallingLimitLowersSharesThatWereNotFullyUsed() {
    ConcurrencyCoordinator coordinator =
        coordinator(new Coordination(Aggregate.MIN, Allocation.DEMAND, true));
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    for (int i = 0; i < 3; i++) {
      busy(10, n1, 10);
      busy(10, n2, 10);
    }
    busy(10, n1, 2);
    assertThat(busy(10, n1, 2)).as("of 5").isEqualTo(3);
    assertThat(busy(10, n2, 7)).isEqualTo(7);
    assertThat(busy(8, n1, 2)).isEqualTo(3);
    assertThat(busy(8, n2, 6)).as("used below 7").isEqualTo(5);
    assertThat(busy(5, n1, 2)).isEqualTo(3);
    assertThat(busy(5, n2, 4)).isEqualTo(2);
  }

  @Test
  void aNodeThatJoinsGetsAPermitOfOneThatUsesNearlyAll() {
    ConcurrencyCoordinator coordinator =
        coordinator(new Coordination(Aggregate.MIN, Allocation.DEMAND, true));
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    assertThat(busy(10, n1, 9)).isEqualTo(10);
    assertThat(busy(10, n2, 0)).isZero();
    assertThat(busy(10, n1, 9)).isEqualTo(9);
    busy(10, n1, 9);
    assertThat(busy(10, n2, 0)).isEqualTo(1);
  }

  @Test
  void aLoweredShareIsReservedInFullUntilItIsAcknowledged() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    assertThat(shares(8, n1, n2, n1)).containsExactly(8, 0, 4);
    assertThat(n2.beat(8, 0).share()).as("8 may apply at n1").isZero();
    assertThat(n1.acknowledging(1).beat(8, 3).share()).isEqualTo(4);
    assertThat(n2.beat(8, 0).share()).as("n1 applies 8").isZero();
    assertThat(n1.acknowledging(2).beat(8, 6).share()).isEqualTo(4);
    assertThat(n2.beat(8, 0).share()).as("6 are in flight at n1").isEqualTo(2);
    n1.beat(8, 1);
    assertThat(n2.beat(8, 0).share()).isEqualTo(4);
  }

  @Test
  void theGenerationChangesWithTheShareOnly() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    for (int i = 0; i < 3; i++) {
      assertThat(n1.beat(6, i).generation()).isEqualTo(1);
    }
    assertThat(n2.beat(6, 0).generation()).as("of a share of 0").isEqualTo(1);
    assertThat(n1.beat(6, 0).generation()).isEqualTo(2);
    assertThat(n1.beat(6, 0).generation()).isEqualTo(2);
    assertThat(n2.beat(6, 0).generation()).isEqualTo(2);
  }

  @Test
  void aNodeThatJoinsGetsNothingHoweverOftenItReportsBeforeTheOthers() {
    ConcurrencyCoordinator coordinator = coordinator(PUBLISHED);
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    assertThat(shares(8, n1, n2, n2, n2)).containsExactly(8, 0, 0, 0);
  }

  @Test
  void aNodeReservesNoMoreThanItCouldHaveInFlight() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    List<FleetNode> nodes = nodes(coordinator, 3);
    shares(8, nodes.get(0), nodes.get(1), nodes.get(0), nodes.get(0), nodes.get(1));
    assertThat(nodes.get(0).beat(8, Integer.MAX_VALUE).share()).isEqualTo(4);
    nodes.get(1).leave(0);
    assertThat(nodes.get(2).beat(8, 0).share()).as("4 are reserved for n0").isEqualTo(4);
  }

  @Test
  void absurdNumbersAreClamped() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode n1 = new FleetNode(coordinator, "n1", 1);
    FleetNode n2 = new FleetNode(coordinator, "n2", 1);
    int most = Heartbeat.MAX_REQUESTS;
    assertGrant(n1.beat(Integer.MAX_VALUE, -1), most, most, 1);
    n1.send(n1.next(Integer.MAX_VALUE, Integer.MIN_VALUE, Integer.MIN_VALUE));
    assertGrant(n2.refusing(Long.MAX_VALUE).beat(Integer.MAX_VALUE, 0), 0, most, 2);
    assertGrant(n1.refusing(-1).beat(Integer.MAX_VALUE, 0), most / 2, most, 2);
    assertGrant(n1.beat(Integer.MIN_VALUE, 0), 1, 1, 2);
    assertGrant(n2.send(n2.next(0, 0, Integer.MAX_VALUE)), 0, 1, 2);
    assertThat(n2.withLease(Long.MAX_VALUE).beat(1, 0).status()).isEqualTo(Status.MEMBER);
    assertThat(n2.withLease(Long.MIN_VALUE).beat(1, 0).status()).isEqualTo(Status.MEMBER);
    assertThat(await(n1, 1, grant -> grant.nodes() == 1).share()).isEqualTo(1);
  }

  @Test
  void idlePermitsGoToTheBusyNodeByDemandOnly() {
    for (Allocation allocation : Allocation.values()) {
      ConcurrencyCoordinator coordinator =
          coordinator(new Coordination(Aggregate.MIN, allocation, true));
      List<FleetNode> nodes = nodes(coordinator, 4);
      boolean equal = allocation == Allocation.EQUAL;
      assertThat(settled(nodes, 12, 0))
          .as("%s", allocation)
          .containsExactly(equal ? new Integer[] {3, 3, 3, 3} : new Integer[] {9, 1, 1, 1});
      assertThat(settled(nodes, 12, 3))
          .as("%s", allocation)
          .containsExactly(equal ? new Integer[] {3, 3, 3, 3} : new Integer[] {1, 1, 1, 9});
    }
  }

  @Test
  void busyNodesDivideWhatTheIdleOneLeaves() {
    ConcurrencyCoordinator coordinator =
        coordinator(new Coordination(Aggregate.MIN, Allocation.DEMAND, true));
    List<FleetNode> nodes = nodes(coordinator, 3);
    for (int round = 0; round < 8; round++) {
      nodes.forEach(node -> busy(9, node, node == nodes.get(2) ? 0 : 9));
    }
    assertThat(busy(9, nodes.get(0), 9)).isEqualTo(4);
    assertThat(busy(9, nodes.get(1), 9)).isEqualTo(4);
    assertThat(busy(9, nodes.get(2), 0)).isEqualTo(1);
  }

  @Test
  void withAsManyPermitsAsNodesEachHasOne() {
    ConcurrencyCoordinator coordinator =
        coordinator(new Coordination(Aggregate.MIN, Allocation.DEMAND, true));
    assertThat(settled(nodes(coordinator, 4), 4, 0)).containsExactly(1, 1, 1, 1);
  }

  @ParameterizedTest
  @EnumSource
  void withFewerPermitsThanNodesEachPermitIsOfOneNode(Allocation allocation) {
    ConcurrencyCoordinator coordinator =
        coordinator(new Coordination(Aggregate.MIN, allocation, true));
    List<Integer> shares = settled(nodes(coordinator, 4), 2, 3);
    assertThat(shares).containsOnly(0, 1);
    assertThat(shares.stream().mapToInt(Integer::intValue).sum()).isEqualTo(2);
    if (allocation == Allocation.DEMAND) {
      assertThat(shares.getLast()).as("busy ones first").isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "MIN, EQUAL, false",
    "MEDIAN, EQUAL, true",
    "MIN, DEMAND, true",
    "POOLED, DEMAND, true",
    "MEDIAN, DEMAND, false"
  })
  void randomHeartbeatsAreAnsweredAsByFleetState(
      Aggregate aggregate, Allocation allocation, boolean acknowledged) {
    Coordination terms = new Coordination(aggregate, allocation, acknowledged);
    ConcurrencyCoordinator coordinator = coordinator(terms);
    long seed = 7;
    SplittableRandom random = new SplittableRandom(seed);
    List<FleetNode> nodes = new ArrayList<>(nodes(coordinator, 5));
    FleetState expected = FleetState.EMPTY;
    for (int step = 0; step < STEPS; step++) {
      String where = "seed " + seed + " step " + step;
      int i = random.nextInt(nodes.size());
      if (random.nextInt(25) == 0) {
        Departure departure = nodes.get(i).departure(random.nextInt(4));
        nodes.get(i).leave(departure.inFlight());
        expected = expected.leave(departure, 0);
        nodes.set(i, new FleetNode(coordinator, "n" + i, 2 + step));
        continue;
      }
      FleetNode node = nodes.get(i).sampled(random.nextInt(4) > 0).refusing(random.nextInt(2));
      int inFlight = random.nextInt(12);
      if (random.nextInt(6) == 0) {
        node.acknowledging(random.nextInt(5));
      }
      // As many permits as nodes or more: with fewer, nodes take turns by the coordinator's clock.
      Heartbeat next = node.next(random.nextInt(60, 90), inFlight, inFlight + random.nextInt(8));
      int times = random.nextInt(10) == 0 ? 2 : 1;
      for (int time = 0; time < times; time++) {
        FleetState.Outcome outcome = expected.heartbeat(terms, next, 0);
        expected = outcome.next();
        assertThat(withoutSteering(node.send(next)))
            .as(where)
            .isEqualTo(withoutSteering(outcome.grant()));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void sharesOfConcurrentHeartbeatsNeverExceedAConstantLimit(long seed) {
    Coordination terms = new Coordination(Aggregate.POOLED, Allocation.DEMAND, true);
    ConcurrencyCoordinator coordinator = coordinator(terms);
    SplittableRandom random = new SplittableRandom(seed);
    List<FleetNode> nodes = nodes(coordinator, 8);
    Map<FleetNode, Integer> shares = new HashMap<>();
    int most = 0;
    for (int round = 0; round < 40; round++) {
      Map<FleetNode, CompletableFuture<ShareGrant>> calls = new HashMap<>();
      for (FleetNode node : nodes.subList(0, Math.min(nodes.size(), 1 + round / 2))) {
        int inFlight = random.nextInt(shares.getOrDefault(node, 0) + 1);
        Heartbeat heartbeat = node.next(40, inFlight, inFlight);
        calls.put(node, coordinator.heartbeat(heartbeat).toCompletableFuture());
      }
      calls.forEach((node, call) -> {
        ShareGrant grant = call.join();
        assertThat(grant.status()).isEqualTo(Status.MEMBER);
        node.acknowledging(grant.generation());
        shares.put(node, grant.share());
      });
      int sum = shares.values().stream().mapToInt(Integer::intValue).sum();
      assertThat(sum).as("seed %s round %s", seed, round).isLessThanOrEqualTo(40);
      most = Math.max(most, sum);
    }
    assertThat(most).as("the whole limit is divided, seed %s", seed).isEqualTo(40);
    assertThat(shares.values()).as("each has its turn").hasSize(8).doesNotContain(0);
  }

  private static List<Integer> shares(int localLimit, FleetNode... nodes) {
    List<Integer> shares = new ArrayList<>();
    for (FleetNode node : nodes) {
      shares.add(node.beat(localLimit, 0).share());
    }
    return shares;
  }

  /** Returns the share of a node that had so many requests at most, and has none now. */
  private static int busy(int localLimit, FleetNode node, int peak) {
    return node.send(node.next(localLimit, 0, peak)).share();
  }

  /** Returns the shares after some rounds in which one node uses all that it gets. */
  @Test
  void permitsThatNoNodeWantsAreRoomForBursts() {
    ConcurrencyCoordinator coordinator =
        coordinator(new Coordination(Aggregate.MIN, Allocation.DEMAND, true));
    FleetNode a = new FleetNode(coordinator, "a", 1);
    assertThat(a.beat(12, 0).share()).isEqualTo(12);
    assertThat(a.beat(12, 2).share()).as("alone").isEqualTo(12);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    for (int round = 0; round < 6; round++) {
      a.beat(12, 2);
      b.beat(12, 0);
    }
    assertThat(a.beat(12, 2).share() + b.beat(12, 0).share()).isEqualTo(12);
    assertThat(b.beat(12, 0).share()).as("1, and half of what is left of 12 − 3 − 1").isEqualTo(5);
  }

  private static List<Integer> settled(List<FleetNode> nodes, int limit, int hot) {
    List<Integer> shares = new ArrayList<>();
    for (int round = 0; round < 8; round++) {
      shares.clear();
      for (int i = 0; i < nodes.size(); i++) {
        shares.add(busy(limit, nodes.get(i), i == hot ? limit : 0));
      }
    }
    return shares;
  }

  private static ShareGrant withoutSteering(ShareGrant grant) {
    return new ShareGrant(
        grant.status(),
        grant.share(),
        grant.limit(),
        grant.applied(),
        grant.nodes(),
        grant.generation(),
        "",
        0,
        grant.frequent(),
        grant.sameId(),
        grant.remnants(),
        List.of());
  }

  private static void assertGrant(ShareGrant grant, int share, int limit, int nodes) {
    assertThat(grant)
        .extracting(ShareGrant::share, ShareGrant::limit, ShareGrant::nodes)
        .containsExactly(share, limit, nodes);
  }
}
