package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.share.FleetState.NodeKey;
import io.throttlekit.share.ShareGrant.Remnant;
import io.throttlekit.share.ShareGrant.Status;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * The rules by which every {@link ConcurrencyCoordinator} keeps permits reserved whose node has
 * died or left while its requests may go on.
 */
public abstract class RemnantConformance extends MembershipConformance {
  private static final long LONG = 3_000_000;
  private static final long PROCESS = 7L << 32;
  private static final long OTHER_PROCESS = 8L << 32;

  /** Returns a node with 8 permits that has died, of which another node knows. */
  private FleetNode died(ConcurrencyCoordinator coordinator, FleetNode other) {
    FleetNode a = new FleetNode(coordinator, "a", PROCESS | 1).withPermits(LONG);
    a.beat(8, 0);
    a.withLease(1).beat(8, 5);
    await(other, 8, grant -> grant.nodes() == 1);
    return a;
  }

  private static void released(ConcurrencyCoordinator coordinator, long incarnation, int permits) {
    coordinator
        .released(new ReleasedPermits(FleetNode.KEY, Incarnation.process(incarnation), permits))
        .toCompletableFuture()
        .orTimeout(240, TimeUnit.SECONDS)
        .join();
  }

  private static List<Remnant> remnant(int permits) {
    return List.of(new Remnant(new NodeKey("a", PROCESS | 1), permits));
  }

  @Test
  void whatMayBeInFlightAtANodeThatDiedStaysReserved() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    died(coordinator, b);
    ShareGrant grant = b.beat(8, 0);
    assertThat(grant.share()).as("8 may be in flight, 5 were reported").isZero();
    assertThat(grant.remnants()).isEqualTo(remnant(8));
    assertThat(grant.nodes()).isEqualTo(1);
    assertThat(grant.applied()).isZero();
    assertThat(grant.steering()).isEqualTo("b");
    assertThat(grant.epoch()).isPositive();
  }

  @Test
  void aNodeThatDiedHasNoVote() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1).withPermits(LONG);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.withLease(1).beat(3, 2);
    ShareGrant grant = await(b, 8, each -> each.nodes() == 1);
    assertThat(grant.limit()).isEqualTo(8);
    assertThat(grant.share()).isEqualTo(5);
  }

  @Test
  void aRemnantEndsWithTheTimeToLiveOfItsPermits() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1).withPermits(50).withLease(1);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(8, 5);
    ShareGrant grant = await(b, 8, each -> each.share() == 8);
    assertThat(grant.remnants()).isEmpty();
    assertThat(a.beat(8, 5).status()).isEqualTo(Status.EVICTED);
  }

  @Test
  void anIncarnationThatDiedIsEvicted() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    FleetNode a = died(coordinator, b);
    assertThat(a.beat(8, 0).status()).isEqualTo(Status.EVICTED);
    assertThat(a.after(0).beat(8, 0).status()).as("the first one, again").isEqualTo(Status.EVICTED);
    assertThat(b.beat(8, 0).remnants()).isEqualTo(remnant(8));
  }

  @Test
  void aLaterDepartureOfAnIncarnationThatDiedReleasesItsRemnant() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    FleetNode a = died(coordinator, b);
    FleetNode again = new FleetNode(coordinator, "a", PROCESS | 2);
    ShareGrant joined = again.beat(8, 6);
    assertThat(joined.status()).isEqualTo(Status.MEMBER);
    assertThat(joined.sameId()).as("a remnant is no member").isFalse();
    a.leave(7);
    assertThat(b.beat(8, 0).remnants()).isEqualTo(remnant(7));
    a.leave(8);
    assertThat(b.beat(8, 0).remnants()).as("no departure raises it").isEqualTo(remnant(7));
    a.leave(0);
    assertThat(b.beat(8, 0).remnants()).isEmpty();
    assertThat(b.beat(8, 0).share()).as("6 are in flight at a").isEqualTo(2);
  }

  @Test
  void requestsOfADepartedNodeAreReservedUntilTheirTimeToLiveHasEnded() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    FleetNode a = new FleetNode(coordinator, "a", PROCESS | 1).withPermits(LONG);
    a.beat(8, 3);
    FleetNode c = new FleetNode(coordinator, "c", 1);
    c.beat(8, 0);
    a.withLease(1).beat(8, 3);
    a.leave(3);
    c.withLease(1).beat(8, 0);
    ShareGrant grant = await(b, 8, each -> each.nodes() == 1); // the lease of c has ended, too
    assertThat(grant.remnants()).isEqualTo(remnant(3));
    assertThat(b.beat(8, 0).share()).isEqualTo(5);
  }

  @Test
  void releasesElsewhereLowerTheRemnantsOfTheirProcess() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode b = new FleetNode(coordinator, "b", OTHER_PROCESS | 1);
    died(coordinator, b);
    released(coordinator, PROCESS | 99, 3);
    assertThat(b.beat(8, 0).share()).isEqualTo(3);
    released(coordinator, OTHER_PROCESS, 5);
    ShareGrant grant = b.beat(8, 0);
    assertThat(grant.remnants()).as("of another process").isEqualTo(remnant(5));
    assertThat(grant.share()).isEqualTo(3);
    released(coordinator, PROCESS, Integer.MAX_VALUE);
    assertThat(b.beat(8, 0).remnants()).isEmpty();
    assertThat(b.beat(8, 0).share()).isEqualTo(8);
    released(coordinator, PROCESS, 1);
    assertThat(b.beat(8, 0).share()).isEqualTo(8);
  }

  @Test
  void releasesElsewhereOfAMemberDoNotCount() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", PROCESS | 1).withPermits(LONG);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(8, 8);
    released(coordinator, PROCESS, 4);
    assertThat(b.beat(8, 0).share()).as("it may have admitted others").isZero();
  }

  @Test
  void releasesElsewhereAreDividedAmongTheRemnantsOfAProcess() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode b = new FleetNode(coordinator, "b", OTHER_PROCESS | 1);
    for (int i = 1; i <= 3; i++) {
      FleetNode node = new FleetNode(coordinator, "a", PROCESS | i).withPermits(LONG).withLease(1);
      node.beat(8, 2);
      await(b, 8, grant -> grant.nodes() == 1);
    }
    released(coordinator, PROCESS, 3);
    assertThat(b.beat(8, 0).remnants())
        .extracting(Remnant::permits)
        .as("in the order of incarnations; the first one may have had all permits")
        .last()
        .isEqualTo(2);
    released(coordinator, PROCESS, 100);
    assertThat(b.beat(8, 0).remnants()).isEmpty();
  }

  @Test
  void membersDivideWhatNoRemnantHas() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1).withPermits(LONG);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    FleetNode c = new FleetNode(coordinator, "c", 1);
    for (int round = 0; round < 3; round++) {
      a.beat(12, 0);
      b.beat(12, 0);
    }
    a.withLease(1).beat(12, 6);
    await(b, 12, grant -> grant.nodes() == 1);
    for (int round = 0; round < 3; round++) {
      c.beat(12, 0);
      b.beat(12, 0);
    }
    assertThat(b.beat(12, 0).share()).as("half of 6").isEqualTo(3);
    assertThat(c.beat(12, 0).share()).isEqualTo(3);
  }

  @Test
  void aLimitThatFallsBelowARemnantLowersNoShareToZero() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1).withPermits(LONG);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    for (int round = 0; round < 3; round++) {
      a.beat(8, 0);
      b.beat(8, 0);
    }
    a.withLease(1).beat(8, 4);
    await(b, 8, grant -> grant.nodes() == 1);
    assertThat(b.beat(3, 0).share()).isEqualTo(1);
  }
}
