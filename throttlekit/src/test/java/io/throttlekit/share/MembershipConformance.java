package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.ShareGrant.Status;
import io.throttlekit.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The rules by which nodes join the fleet of every {@link ConcurrencyCoordinator}, stay in it and
 * leave it. Expiry is awaited by heartbeats after one with a lease of 1 ms, because the clock may
 * be a server's.
 */
public abstract class MembershipConformance {
  static final Coordination PUBLISHED = new Coordination(Aggregate.MIN, Allocation.EQUAL, false);
  static final Coordination ACKNOWLEDGED = new Coordination(Aggregate.MIN, Allocation.EQUAL, true);
  private static final long TIMEOUT_SECONDS = 240;

  private final List<ConcurrencyCoordinator> opened = new ArrayList<>();

  /** Opens a coordinator without nodes. */
  protected abstract ConcurrencyCoordinator open(Coordination terms);

  /** Advances the coordinator's clock, or waits a moment if it is a server's. */
  protected void advance(long millis) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
  }

  @AfterEach
  void closeCoordinators() {
    opened.forEach(ConcurrencyCoordinator::close);
  }

  final ConcurrencyCoordinator coordinator(Coordination terms) {
    ConcurrencyCoordinator coordinator = open(terms);
    opened.add(coordinator);
    return coordinator;
  }

  static List<FleetNode> nodes(ConcurrencyCoordinator coordinator, int count) {
    return IntStream.range(0, count).mapToObj(i -> new FleetNode(coordinator, "n" + i, 1)).toList();
  }

  /** Sends heartbeats until one has the awaited answer, and returns it. */
  final ShareGrant await(FleetNode node, int localLimit, Predicate<ShareGrant> awaited) {
    long begun = System.nanoTime();
    while (true) {
      ShareGrant grant = node.beat(localLimit, 0);
      if (awaited.test(grant)) {
        return grant;
      }
      if (System.nanoTime() - begun > TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS)) {
        return fail("still " + grant);
      }
      advance(10);
    }
  }

  @Test
  void aNodeJoinsWithItsFirstHeartbeatOnly() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    ShareGrant late = new FleetNode(coordinator, "a", 1).after(1).beat(8, 0);
    assertThat(late.status()).isEqualTo(Status.EVICTED);
    assertThat(late.share()).isZero();
    assertThat(late.limit()).as("a limit is never 0").isEqualTo(1);
    assertThat(late.nodes()).isZero();
    assertThat(late.steering()).isEmpty();
    ShareGrant first = new FleetNode(coordinator, "a", 2).beat(8, 0);
    assertThat(first.status()).isEqualTo(Status.MEMBER);
    assertThat(first.share()).isEqualTo(8);
    assertThat(first.nodes()).isEqualTo(1);
  }

  @Test
  void keysHaveFleetsOfTheirOwn() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    assertThat(new FleetNode(coordinator, "a", 1).of("x").beat(8, 0).share()).isEqualTo(8);
    assertThat(new FleetNode(coordinator, "b", 1).of("y").beat(6, 0).share()).isEqualTo(6);
    new FleetNode(coordinator, "a", 1).of("y").leave(0);
    new FleetNode(coordinator, "a", 1).of("unknown").leave(3);
    assertThat(new FleetNode(coordinator, "b", 2).of("x").beat(8, 0).nodes()).isEqualTo(2);
  }

  @Test
  void aNodeWithoutHeartbeatsIsEvictedAndJoinsAgainWithANewIncarnation() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    assertThat(a.beat(8, 0).share()).isEqualTo(8);
    assertThat(b.beat(8, 0).share()).as("reserved for a").isZero();
    a.withLease(1).beat(8, 5);
    assertThat(await(b, 8, grant -> grant.nodes() == 1).share()).isEqualTo(8);

    ShareGrant evicted = a.withLease(FleetNode.LONG_LEASE).beat(8, 0);
    assertThat(evicted.status()).isEqualTo(Status.EVICTED);
    assertThat(evicted.share()).isZero();
    assertThat(evicted.limit()).isEqualTo(8);
    FleetNode again = new FleetNode(coordinator, "a", 2);
    assertThat(again.beat(8, 0).generation()).as("of a new incarnation").isEqualTo(1);
    b.beat(8, 0);
    b.beat(8, 0);
    assertThat(again.beat(8, 0).share()).isEqualTo(4);
  }

  @Test
  void acknowledgementsOfAnEarlierIncarnationReleaseNothing() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 2);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    assertThat(a.beat(6, 0).share()).isEqualTo(6);
    b.beat(6, 0);
    for (long generation : new long[] {0, 5, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertThat(a.acknowledging(generation).beat(6, 0))
          .extracting(ShareGrant::share, ShareGrant::generation)
          .containsExactly(3, 2L);
      assertThat(b.beat(6, 0).share()).as("6 may apply at a, %s", generation).isZero();
    }
    a.beat(6, 0);
    assertThat(b.beat(6, 0).share()).isEqualTo(3);
  }

  @Test
  void aRestartedNodeIsAnotherMemberUntilItsOldLeaseEnds() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode old = new FleetNode(coordinator, "a", 1);
    for (int i = 0; i < 50; i++) {
      assertThat(old.beat(8, 2).sameId()).isFalse();
    }
    FleetNode restarted = new FleetNode(coordinator, "a", 2);
    ShareGrant first = restarted.beat(8, 7);
    assertThat(first.sameId()).isTrue();
    assertThat(first.nodes()).isEqualTo(2);
    assertThat(first.share()).isZero();
    assertThat(old.withLease(1).beat(8, 2).sameId()).isTrue();

    FleetNode b = new FleetNode(coordinator, "b", 1);
    await(b, 8, grant -> grant.nodes() == 2);
    assertThat(b.beat(8, 0).share()).as("7 are in flight at a").isEqualTo(1);
    ShareGrant alone = restarted.beat(8, 7);
    assertThat(alone.sameId()).isFalse();
    assertThat(alone.share()).isEqualTo(4);
  }

  @Test
  void incarnationsAreToldApartAndOrderedAsNumbersOf64Bits() {
    ConcurrencyCoordinator coordinator = coordinator(PUBLISHED);
    List<Long> ascending =
        List.of(Long.MIN_VALUE, -5L, 3L, 20L, (1L << 53), (1L << 53) + 1, Long.MAX_VALUE);
    List<FleetNode> nodes =
        ascending.stream().map(number -> new FleetNode(coordinator, "a", number)).toList();
    nodes.forEach(node -> node.beat(10, 0));
    nodes.forEach(node -> node.beat(10, 0));
    assertThat(nodes)
        .extracting(node -> node.beat(10, 0).share())
        .containsExactly(2, 2, 2, 1, 1, 1, 1);
  }

  @Test
  void aDepartureReleasesAllButTheRequestsInFlight() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(8, 6);
    assertThat(b.beat(8, 0).share()).isZero();
    a.leave(3);
    assertThat(b.beat(8, 0)).extracting(ShareGrant::share, ShareGrant::nodes).containsExactly(5, 1);
    a.leave(6);
    assertThat(b.beat(8, 0).share()).as("a later one never raises it").isEqualTo(5);
    a.leave(0);
    assertThat(b.beat(8, 0).share()).isEqualTo(8);
  }

  @Test
  void requestsOfADepartedNodeAreReservedUntilItsLeaseEnds() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    a.beat(8, 6);
    a.withLease(1).beat(8, 6);
    a.leave(3);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    assertThat(await(b, 8, grant -> grant.share() == 8).nodes()).isEqualTo(1);
  }

  @Test
  void aDepartureWithAbsurdNumbersReservesWhatWasReserved() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(8, 0);
    b.beat(8, 0);
    a.beat(8, 0);
    a.beat(8, 0);
    a.leave(Integer.MAX_VALUE);
    assertThat(b.beat(8, 0).share()).as("4 were reserved for a").isEqualTo(4);
  }

  @Test
  void aHeartbeatThatIsOvertakenByTheDepartureDoesNotJoin() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(8, 0);
    Heartbeat late = a.next(8, 0, 0);
    a.leave(0);
    assertThat(a.send(late).status()).isEqualTo(Status.EVICTED);
    assertThat(b.beat(8, 0)).extracting(ShareGrant::share, ShareGrant::nodes).containsExactly(8, 1);
    assertThat(a.send(late).status()).isEqualTo(Status.EVICTED);
  }

  @Test
  void aHeartbeatThatWasOvertakenChangesNothing() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(8, 0);
    b.beat(8, 0);
    a.beat(8, 0);
    Heartbeat overtaken = a.acknowledging(2).next(2, 0, 0);
    ShareGrant newest = a.acknowledging(1).beat(8, 7);
    assertThat(newest)
        .extracting(ShareGrant::share, ShareGrant::limit, ShareGrant::generation)
        .containsExactly(4, 8, 2L);
    assertThat(a.send(overtaken)).isEqualTo(newest);
    assertThat(a.send(overtaken)).isEqualTo(newest);
    assertThat(b.beat(8, 0).share()).as("8 may apply at a").isZero();
  }

  @Test
  void aRepeatedHeartbeatIsAnsweredWithTheLastShare() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    a.beat(8, 0);
    Heartbeat repeated = a.next(8, 0, 0);
    assertThat(a.send(repeated).share()).isEqualTo(8);
    new FleetNode(coordinator, "b", 1).beat(8, 0);
    ShareGrant again = a.send(repeated);
    assertThat(again.share()).as("the next heartbeat lowers it").isEqualTo(8);
    assertThat(again.generation()).isEqualTo(1);
    assertThat(again.nodes()).isEqualTo(2);
  }

  @Test
  void aRepeatedHeartbeatDoesNotRenewTheLease() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    Heartbeat first = a.next(8, 0, 0);
    a.send(first);
    a.withLease(1).beat(8, 0);
    a.send(first);
    assertThat(await(new FleetNode(coordinator, "b", 1), 8, grant -> grant.nodes() == 1).share())
        .isEqualTo(8);
  }

  @Test
  void aFullFleetAdmitsANodeWhenALeaseEnds() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    List<FleetNode> nodes = new ArrayList<>();
    for (int i = 0; i < FleetState.MAX_NODES; i++) {
      FleetNode node = new FleetNode(coordinator, "n" + i, 1);
      assertThat(node.beat(5_000, 0).nodes()).isEqualTo(i + 1);
      nodes.add(node);
    }
    FleetNode another = new FleetNode(coordinator, "z", 1);
    ShareGrant full = another.beat(5_000, 0);
    assertThat(full.status()).isEqualTo(Status.FULL);
    assertThat(full.share()).isZero();
    assertThat(full.limit()).isEqualTo(5_000);
    assertThat(full.nodes()).isEqualTo(FleetState.MAX_NODES);
    assertThat(nodes.getFirst().beat(5_000, 0).status()).isEqualTo(Status.MEMBER);
    nodes.getLast().withLease(1).beat(5_000, 0);
    await(
        another.after(0),
        5_000,
        grant -> {
          another.after(0);
          return grant.status() == Status.MEMBER;
        });
  }

  @Test
  void rejectsCallsOnceClosed() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1);
    a.beat(8, 0);
    coordinator.close();
    assertThat(coordinator.heartbeat(a.next(8, 0, 0)).toCompletableFuture())
        .failsWithin(Duration.ofSeconds(TIMEOUT_SECONDS))
        .withThrowableThat()
        .withCauseInstanceOf(StoreException.class);
    assertThat(coordinator.leave(new Departure(FleetNode.KEY, "a", 1, 0)).toCompletableFuture())
        .failsWithin(Duration.ofSeconds(TIMEOUT_SECONDS))
        .withThrowableThat()
        .withCauseInstanceOf(StoreException.class);
  }
}
