package io.throttlekit.tier;

import static io.throttlekit.tier.Node.claim;
import static io.throttlekit.tier.Node.leased;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.lease.GlobalCells;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.HeldSource.ReturnedUnits;
import io.throttlekit.tier.Node.Reply;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests requests with limits that all regions share and limits of the region. */
class GlobalTiersTest {
  private static final long WINDOW = 10_000;
  private static final long END = 1_010_000;
  private static final Tier STRICT = new Tier.Strict();
  private static final Tier CACHED = new Tier.CachedDeny();

  private final FixedWindow ten = new FixedWindow(10, WINDOW);
  private final FixedWindow two = new FixedWindow(2, WINDOW);
  private final FixedWindow hourly = new FixedWindow(3, 3_600_000);
  private final ManualTime time = new ManualTime(END - WINDOW);
  private final InMemoryStore counters = new InMemoryStore(time, 10_000);
  private final HeldStore store = new HeldStore(counters);
  private final HeldSource source = new HeldSource(time);
  private final Node node = new Node(store, source, time, 1_000);

  @Test
  void globalClaimsLeaseGloballyAndOthersFromTheRegion() {
    Reply reply = node.ask(global(1), leased(ten, 5, 1), strict(1), cached(1));
    assertThat(reply.admitted()).isTrue();
    assertThat(reply.outcome().decidedBy())
        .containsExactly(DecidedBy.GLOBAL_LEASE, DecidedBy.LEASE, DecidedBy.STORE, DecidedBy.STORE);
    assertThat(source.leases).hasSize(1);
    assertThat(store.leases).hasSize(1);
    assertThat(store.acquired).hasSize(1);
  }

  @Test
  void anExhaustedGlobalClaimRefusesWithoutCallsOrCharges() {
    assertThat(node.admitted(20, global(1))).isEqualTo(10);
    Reply refused = node.ask(global(1), strict(1), leased(ten, 5, 1));
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.outcome().decidedBy().subList(0, 2))
        .containsExactly(DecidedBy.GLOBAL_LEASE, DecidedBy.NONE);
    assertThat(store.acquired).isEmpty();
    assertThat(node.ask(leased(ten, 5, 10)).admitted()).as("put back").isTrue();
  }

  @Test
  void globalUnitsAreReturnedWhenTheStoreRefusesAnotherDescriptor() {
    assertThat(node.ask(strict(2)).admitted()).isTrue();
    Reply refused = node.ask(global(4), strict(1));
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.decision().remaining()).isEqualTo(10);
    assertThat(node.ask(global(10)).admitted()).isTrue();
  }

  @Test
  void globalUnitsAreReturnedOnACachedRefusal() {
    assertThat(node.ask(cached(2)).admitted()).isTrue();
    assertThat(node.ask(cached(1)).admitted()).isFalse();
    assertThat(node.ask(global(4), cached(1)).admitted()).isFalse();
    assertThat(node.ask(global(10)).admitted()).isTrue();
  }

  @Test
  void unitsOfBothWindowsAreReturnedToBoth() {
    assertThat(node.ask(roomy(1)).admitted()).isTrue();
    assertThat(node.ask(strict(2)).admitted()).isTrue();
    time.advance(WINDOW - 1); // the window may be over
    assertThat(node.ask(roomy(3)).admitted()).as("of both").isTrue();
    assertThat(node.ask(roomy(4), strict(1)).admitted()).as("put back to both").isFalse();
    node.tiers.close();
    long ofNext =
        source.leases.stream()
            .filter(ask -> ask.windowEndMillis() == END + WINDOW)
            .mapToLong(LeaseRequest::units)
            .sum();
    assertThat(source.back)
        .containsExactly(new ReturnedUnits(END, 6), new ReturnedUnits(END + WINDOW, ofNext - 3));
  }

  @Test
  void unitsOfBothWindowsAreReturnedThoughTheirCellIsEvicted() {
    assertThat(node.ask(roomy(1)).admitted()).isTrue();
    assertThat(node.ask(strict(2)).admitted()).isTrue();
    time.advance(WINDOW - 1);
    store.hold();
    Reply reply = node.ask(roomy(4), strict(1));
    node.tiers.leases.close();
    source.back.clear();
    store.answerAll();
    assertThat(reply.admitted()).isFalse();
    assertThat(source.back)
        .containsExactly(new ReturnedUnits(END, 4), new ReturnedUnits(END + WINDOW, 4));
  }

  @Test
  void globalRefundsAndPeeksNeverReachTheStore() {
    assertThat(node.ask(global(10)).admitted()).isTrue();
    assertThat(node.ask(global(0)).admitted()).isFalse();
    assertThat(node.ask(global(-4)).decision()).isEqualTo(Decision.admit(10, 4, 10_010));
    assertThat(node.ask(global(0)).admitted()).isTrue();
    assertThat(node.ask(global(4)).admitted()).isTrue();
    assertThat(node.ask(global(1)).admitted()).isFalse();
    assertThat(node.ask(global(-4), global(1)).admitted()).as("refunds first").isTrue();
    assertThat(store.acquired).isEmpty();
    assertThat(store.leases).isEmpty();
  }

  @Test
  void aRefundOfAWaitingRequestCountsOnce() {
    assertThat(node.ask(global(10)).admitted()).isTrue();
    source.hold();
    Reply reply = node.ask(global(-3), other(1));
    assertThat(reply.isThere()).isFalse();
    source.answerAll();
    assertThat(reply.admitted()).isTrue();
    assertThat(node.admitted(10, global(1))).isEqualTo(3);
  }

  @Test
  void aGlobalRefundOfARefusedRequestIsNotSentToTheStore() {
    assertThat(node.ask(strict(2)).admitted()).isTrue();
    int asked = store.acquired.size();
    assertThat(node.ask(cached(3), global(-3)).admitted()).isFalse();
    assertThat(store.acquired).hasSize(asked + 1);
    assertThat(store.acquired.getLast()).hasSize(1);
  }

  @Test
  void limitsOfOneDescriptorAreDecidedTogetherEvenIfOneIsGlobal() {
    TieredClaim own = claim(Role.ENFORCED, STRICT, "b", two, 1);
    assertThat(node.ask(global(1), own).admitted()).isTrue();
    assertThat(node.ask(global(1), own).admitted()).isTrue();
    assertThat(node.ask(global(1), own).admitted()).isFalse();
    assertThat(node.admitted(20, global(1))).as("8 shared units are left").isEqualTo(8);
  }

  @Test
  void globalLimitsOfOneDescriptorAreSpentAtomically() {
    TieredClaim together = sharing(Outage.ERROR, small(), large());
    assertThat(node.admitted(8, together)).isEqualTo(3);
    node.tiers.close();
    assertThat(source.back).contains(new ReturnedUnits(END, 2));
  }

  @ParameterizedTest
  @EnumSource(names = {"LOCAL", "ALLOW", "DENY"})
  void anOutageDecisionPutsUnitsOfOtherLimitsBack(Outage outage) {
    assertThat(node.ask(sharing(outage, small())).admitted()).isTrue();
    source.fail(true);
    assertThat(node.ask(sharing(outage, small(), large())).outcome().decidedBy())
        .containsOnly(DecidedBy.OUTAGE);
    node.tiers.close();
    assertThat(source.back).containsExactly(new ReturnedUnits(END, 4));
  }

  @ParameterizedTest
  @EnumSource(Outage.class)
  void anOutageOfTheCoordinatorDecidesOnlyGlobalClaims(Outage outage) {
    source.fail(true);
    Reply reply = node.ask(global(outage, 1), leased(ten, 5, 1), strict(1), cached(1));
    if (outage == Outage.ERROR) {
      assertThat(reply.failure).hasMessage(HeldSource.NO_ANSWER);
      assertThat(store.acquired).isEmpty();
    } else if (outage == Outage.DENY) {
      assertThat(reply.outcome().decidedBy().getFirst()).isEqualTo(DecidedBy.OUTAGE);
      assertThat(reply.admitted()).isFalse();
      assertThat(store.acquired).isEmpty();
    } else {
      assertThat(reply.admitted()).isTrue();
      assertThat(reply.outcome().decidedBy())
          .containsExactly(DecidedBy.OUTAGE, DecidedBy.LEASE, DecidedBy.STORE, DecidedBy.STORE);
    }
    long spent = outage == Outage.ALLOW || outage == Outage.LOCAL ? 1 : 0;
    assertThat(node.ask(leased(ten, 5, 10 - spent)).admitted()).isTrue();
    assertThat(node.counted.outages).containsExactly(outage);
  }

  @Test
  void aRegionalLeaseProceedsDuringACoordinatorOutage() {
    source.fail(true);
    source.hold();
    assertThat(node.ask(leased(ten, 5, 1)).admitted()).isTrue();
    Reply reply = node.ask(global(Outage.ALLOW, 1), leased(ten, 5, 4), strict(1));
    assertThat(node.admitted(4, leased(ten, 5, 1))).as("others spend it in between").isEqualTo(4);
    source.answerAll();
    assertThat(reply.admitted()).isTrue();
    assertThat(reply.outcome().decidedBy())
        .containsExactly(DecidedBy.OUTAGE, DecidedBy.LEASE, DecidedBy.STORE);
    assertThat(node.counted.outages).containsExactly(Outage.ALLOW);
  }

  @Test
  void aRequestThatWaitsTooLongForTheCoordinatorIsDecidedByItsOutagePolicy() {
    source.hold();
    Reply reply = node.ask(global(Outage.DENY, 1));
    time.advance(Node.PATIENCE_MILLIS);
    node.timer.run();
    assertThat(reply.decidedBy()).isEqualTo(DecidedBy.OUTAGE);
    assertThat(reply.admitted()).isFalse();
    assertThat(source.leases).as("no other lease").hasSize(1);
  }

  @Test
  void aRegionalPeekReachesTheStoreDuringACoordinatorOutage() {
    source.fail(true);
    Reply reply = node.ask(global(Outage.ALLOW, 1), leased(ten, 5, 0));
    assertThat(reply.outcome().decidedBy()).containsExactly(DecidedBy.OUTAGE, DecidedBy.STORE);
  }

  @Test
  void anOutageOfTheStoreDecidesNoGlobalClaim() {
    store.fail(true);
    store.hold();
    TieredClaim own = claim(Role.ENFORCED, Node.batches(5), Outage.ALLOW, "b", two, 1);
    Reply reply = node.ask(global(4), own);
    assertThat(node.admitted(7, global(1))).as("others spend it in between").isEqualTo(7);
    store.answerAll();
    assertThat(reply.outcome().decidedBy()).containsExactly(DecidedBy.GLOBAL_LEASE, DecidedBy.NONE);
    assertThat(reply.admitted()).as("3 are left").isFalse();
    assertThat(node.counted.outages).isEmpty();
  }

  @Test
  void aGlobalLeaseProceedsDuringAStoreOutage() {
    store.fail(true);
    store.hold();
    TieredClaim own = claim(Role.ENFORCED, Node.batches(5), Outage.ALLOW, "b", two, 1);
    Reply reply = node.ask(roomy(4), own);
    assertThat(node.admitted(7, roomy(1))).as("others spend it in between").isEqualTo(7);
    store.answerAll();
    assertThat(reply.admitted()).isTrue();
    assertThat(reply.outcome().decidedBy())
        .containsExactly(DecidedBy.GLOBAL_LEASE, DecidedBy.OUTAGE);
    assertThat(node.counted.outages).containsExactly(Outage.ALLOW);
  }

  @Test
  void aGrantForAnEvictedCellIsReturned() {
    source.hold();
    Reply reply = node.ask(global(1));
    node.tiers.close();
    source.answerOne();
    assertThat(source.back).containsExactly(new ReturnedUnits(END, 10));
    assertThat(node.tiers.ended().toCompletableFuture()).as("a return is in flight").isNotDone();
    source.answerAll();
    assertThat(reply.admitted()).isTrue();
    assertThat(node.tiers.ended().toCompletableFuture()).isDone();
  }

  @Test
  void hasEndedOnceAllReturnsAreAnswered() {
    assertThat(node.ask(global(1)).admitted()).isTrue();
    assertThat(node.tiers.ended().toCompletableFuture()).as("not before it is closed").isNotDone();
    source.hold();
    node.tiers.close();
    node.tiers.close();
    assertThat(source.back).containsExactly(new ReturnedUnits(END, 9));
    assertThat(node.tiers.ended().toCompletableFuture()).isNotDone();
    source.answerOne();
    assertThat(node.tiers.ended().toCompletableFuture()).isDone();
  }

  @Test
  void aStoreErrorPutsGlobalUnitsBack() {
    store.fail(true);
    assertThat(node.ask(global(4), strict(1)).failure).hasMessage(HeldStore.NO_ANSWER);
    assertThat(node.ask(global(10)).admitted()).isTrue();
  }

  @Test
  void threeLateGrantsAreAnOutage() {
    assertThat(node.ask(global(1)).admitted()).isTrue();
    time.advance(WINDOW + 20);
    assertThat(node.ask(global(1)).admitted()).as("of the next window").isTrue();
    time.setWall(END - 5_000); // another coordinator has taken over, with a slower clock
    LeaseSource late = new HeldSource(time);
    Node after = new Node(store, late, new ManualTime(0), 10);
    assertThat(after.ask(global(1)).admitted()).isTrue();
    after.time.advance(5_100); // then its answer is late, too, again and again
    Reply reply = after.ask(global(Outage.DENY, 10));
    assertThat(reply.decidedBy()).isEqualTo(DecidedBy.OUTAGE);
    assertThat(((HeldSource) late).leases).hasSize(1 + 3);
  }

  private TieredClaim global(long cost) {
    return global(Outage.ERROR, cost);
  }

  private TieredClaim global(Outage outage, long cost) {
    Tier.Global tier = GlobalCells.tier(ten, new LeaseSize.Fixed(10), 0, 0);
    return claim(Role.ENFORCED, tier, outage, "shared", ten, cost);
  }

  /** Returns some limits of a descriptor that has two. */
  private TieredClaim sharing(Outage outage, Charge... charges) {
    Terms terms = new Terms("shop", List.of(ten, hourly));
    Tier.Global both = new Tier.Global(new LeaseSize.Fixed(5), 0, 0, terms, DataLoss.REFILL, false);
    return new TieredClaim(new Claim(Role.ENFORCED, List.of(charges)), both, outage);
  }

  private Charge small() {
    return new Charge(Node.key("small"), ten, 1, Overrun.REFUSE);
  }

  private Charge large() {
    return new Charge(Node.key("large"), hourly, 1, Overrun.REFUSE);
  }

  private TieredClaim roomy(long cost) {
    FixedWindow hundred = new FixedWindow(100, WINDOW);
    Tier.Global tier = GlobalCells.tier(hundred, new LeaseSize.Fixed(10), 0, 0);
    return claim(Role.ENFORCED, tier, "roomy", hundred, cost);
  }

  private TieredClaim other(long cost) {
    Tier.Global tier = GlobalCells.tier(ten, new LeaseSize.Fixed(10), 0, 0);
    return claim(Role.ENFORCED, tier, "other", ten, cost);
  }

  private TieredClaim strict(long cost) {
    return claim(Role.ENFORCED, STRICT, "b", two, cost);
  }

  private TieredClaim cached(long cost) {
    return claim(Role.ENFORCED, CACHED, "c", two, cost);
  }
}
