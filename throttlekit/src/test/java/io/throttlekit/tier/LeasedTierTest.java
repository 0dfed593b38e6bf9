package io.throttlekit.tier;

import static io.throttlekit.tier.Node.claim;
import static io.throttlekit.tier.Node.leased;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.lease.AcquireResult;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.Node.Reply;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeasedTierTest {
  private static final long WINDOW = 10_000;

  private final FixedWindow hundred = new FixedWindow(100, WINDOW);
  private final ManualTime storeTime = new ManualTime(1_000_000);
  private final HeldStore store = new HeldStore(new InMemoryStore(storeTime, 10_000));
  private final Node node = new Node(store);

  @Test
  void aBatchIsOneCall() {
    assertThat(node.admitted(10, leased(hundred, 10, 1))).isEqualTo(10);
    assertThat(store.leases).hasSize(1);
    assertThat(node.ask(leased(hundred, 10, 1)).decidedBy()).isEqualTo(DecidedBy.LEASE);
    assertThat(store.leases).hasSize(2);
  }

  @Test
  void sweepsCoverManyCellsInTurns() {
    Node large = new Node(store, new ManualTime(0), 100_000);
    Tier.Leased idle = new Tier.Leased(new LeaseSize.Fixed(2), true, 0, 2_000);
    for (int i = 0; i < 12_000; i++) {
      assertThat(large.ask(claim(Role.ENFORCED, idle, "user " + i, hundred, 1)).admitted())
          .isTrue();
    }
    large.time.advance(2_000);
    large.tiers.leases.sweep();
    assertThat(large.counted.unitsReturned).isEqualTo(5_000);
    large.tiers.leases.sweep();
    large.tiers.leases.sweep();
    assertThat(large.counted.unitsReturned).isEqualTo(12_000);
  }

  @Test
  void allCellsAreSweptWithinASecondOrSo() {
    Node large = new Node(store, new ManualTime(0), 100_000);
    Tier.Leased idle = new Tier.Leased(new LeaseSize.Fixed(2), true, 0, 2_000);
    for (int i = 0; i < 12_000; i++) {
      assertThat(large.ask(claim(Role.ENFORCED, idle, "user " + i, hundred, 1)).admitted())
          .isTrue();
    }
    for (int tenths = 0; tenths < 35; tenths++) {
      large.time.advance(100);
      large.timer.run();
    }
    assertThat(large.counted.unitsReturned).isEqualTo(12_000);
  }

  @Test
  void aSingleNodeReportsTheSameRemainingAsTheStore() {
    Decision first = node.ask(leased(hundred, 10, 1)).decision();
    assertThat(first).isEqualTo(Decision.admit(100, 99, WINDOW));
    advance(400);
    assertThat(node.ask(leased(hundred, 10, 3)).decision())
        .isEqualTo(Decision.admit(100, 96, WINDOW - 400));
  }

  @Test
  void theFullLimitIsAdmittedWithAPartialLastBatch() {
    assertThat(node.admitted(200, leased(hundred, 16, 1))).isEqualTo(100);
    assertThat(store.leases).hasSize(7);
  }

  @Test
  void aBatchBeyondTheLimitLeasesTheLimit() {
    assertThat(node.admitted(200, leased(hundred, 101, 1))).isEqualTo(100);
    assertThat(store.leases).hasSize(1);
  }

  @Test
  void anExhaustedLimitRefusesWithoutCallsUntilTheWindowEnds() {
    assertThat(node.admitted(500, leased(hundred, 50, 1))).isEqualTo(100);
    int calls = store.leases.size();
    advance(WINDOW - 1);
    Decision refusal = node.ask(leased(hundred, 50, 1)).decision();
    assertThat(refusal).isEqualTo(Decision.refuse(100, 0, 1, 1));
    assertThat(store.leases).hasSize(calls);
    advance(1);
    assertThat(node.ask(leased(hundred, 50, 1)).admitted()).isTrue();
  }

  @Test
  void anotherNodeCallsOnceToFindAnExhaustedLimit() {
    Node other = new Node(store);
    assertThat(other.admitted(100, leased(hundred, 100, 1))).isEqualTo(100);
    int calls = store.leases.size();
    assertThat(node.admitted(1_000, leased(hundred, 10, 1))).isZero();
    assertThat(store.leases).hasSize(calls + 1);
  }

  @Test
  void aCostAboveTheLimitNeverFitsAndLeasesNothing() {
    assertThat(node.ask(leased(hundred, 10, 101)).decision().neverFits()).isTrue();
    assertThat(store.leases).isEmpty();
  }

  @Test
  void aCostAboveTheBatchLeasesAsMuchAsItNeeds() {
    assertThat(node.ask(leased(hundred, 4, 30)).admitted()).isTrue();
    assertThat(store.leases.getFirst().units()).isEqualTo(30);
  }

  @Test
  void aRefusedCostLeavesUnitsForSmallerOnes() {
    assertThat(node.admitted(3, leased(hundred, 32, 30))).isEqualTo(3);
    assertThat(node.ask(leased(hundred, 32, 30)).admitted()).isFalse();
    assertThat(node.admitted(20, leased(hundred, 32, 1))).isEqualTo(10);
  }

  @Test
  void aHundredConcurrentMissesShareOneLease() {
    FixedWindow roomy = new FixedWindow(1_000, WINDOW);
    store.hold();
    List<Reply> replies = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      replies.add(node.ask(leased(roomy, 16, 1)));
    }
    assertThat(store.leases).hasSize(1);
    store.answerAll();
    assertThat(replies).allMatch(Reply::admitted);
    assertThat(store.leases).hasSize(7);
    assertThat(node.counted.leased).isEqualTo(112);
    assertThat(node.counted.riders).isPositive();
  }

  @Test
  void ofAHundredMissesTheRemainingUnitsAreAdmitted() {
    FixedWindow fifty = new FixedWindow(50, WINDOW);
    store.hold();
    List<Reply> replies = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      replies.add(node.ask(leased(fifty, 16, 1)));
    }
    store.answerAll();
    assertThat(replies.stream().filter(Reply::admitted)).hasSize(50);
  }

  @Test
  void unitsExpireWithTheirWindowDespiteASlowLocalClock() {
    Node slow =
        new Node(store, new ManualTime(0), 10); // its wall clock is a quarter of an hour slow
    assertThat(slow.admitted(4, leased(hundred, 10, 1))).isEqualTo(4);
    storeTime.advance(WINDOW);
    slow.time.advance(WINDOW - 1); // its own clock is a ms slow
    Node other = new Node(store);
    assertThat(other.admitted(200, leased(hundred, 10, 1))).isEqualTo(100);
    assertThat(slow.admitted(200, leased(hundred, 10, 1))).isZero();
  }

  @Test
  void unitsOfALateReplyAreNotSpentInTheNextWindow() {
    store.hold();
    Reply reply = node.ask(leased(hundred, 10, 1));
    advance(WINDOW); // granted in the first window, answered in the second
    node.timer.run(); // the wait times out
    assertThat(reply.failure).isNotNull();
    store.answerAll();
    assertThat(node.counted.late).isEqualTo(10);
    assertThat(node.admitted(200, leased(hundred, 10, 1))).isEqualTo(100);
  }

  @Test
  void waitersOfALateLeaseAreDecidedByTheStore() {
    storeTime.advance(WINDOW - storeTime.wallMillis() % WINDOW - 3);
    store.hold();
    Reply reply = node.ask(leased(hundred, 10, 1));
    advance(3);
    store.answerAll();
    assertThat(reply.admitted()).isTrue();
    assertThat(reply.decidedBy()).isEqualTo(DecidedBy.STORE);
    assertThat(node.counted.late).isEqualTo(10);
  }

  @Test
  void atTheEndOfAWindowTheStoreDecides() {
    assertThat(node.admitted(10, leased(hundred, 10, 1))).isEqualTo(10);
    advance(WINDOW - 2);
    Reply last = node.ask(leased(hundred, 10, 1));
    assertThat(last.admitted()).isTrue();
    assertThat(last.decidedBy()).isEqualTo(DecidedBy.STORE);
    advance(2);
    assertThat(node.admitted(200, leased(hundred, 10, 1))).isEqualTo(100);
  }

  @Test
  void unitsOfAWindowAreNotMergedIntoTheNextGrant() {
    assertThat(node.ask(leased(hundred, 10, 1)).admitted()).isTrue(); // 9 are left
    storeTime.advance(WINDOW); // the store's clock is ahead, unknown to the node
    node.time.advance(WINDOW / 2);
    assertThat(node.ask(leased(hundred, 10, 12)).admitted()).isTrue(); // leases 12 − 9 or more
    assertThat(node.admitted(200, leased(hundred, 10, 1)) + 12).isLessThanOrEqualTo(100);
    assertThat(node.counted.forfeited).isEqualTo(9);
  }

  @Test
  void carriedOverLeasesKeepAtMostTheirRest() {
    Tier.Leased carry = new Tier.Leased(new LeaseSize.Fixed(10), false, 0, 0);
    TieredClaim one = Node.claim(Role.ENFORCED, carry, "user", hundred, 1);
    List<Node> nodes = List.of(new Node(store), new Node(store), new Node(store), new Node(store));
    nodes.forEach(each -> assertThat(each.ask(one).admitted()).isTrue());
    storeTime.advance(WINDOW);
    nodes.forEach(each -> each.time.advance(WINDOW));
    int admitted = 0;
    for (int i = 0; i < 250; i++) {
      for (Node each : nodes) {
        admitted += each.ask(one).admitted() ? 1 : 0;
      }
    }
    assertThat(admitted).isEqualTo(100 + 4 * 9);
  }

  @Test
  void coupledLeasesAdmitExactlyTheLimitUnlikeCarriedOverOnes() {
    List<Node> nodes = List.of(new Node(store), new Node(store), new Node(store), new Node(store));
    nodes.forEach(each -> assertThat(each.ask(leased(hundred, 10, 1)).admitted()).isTrue());
    storeTime.advance(WINDOW);
    nodes.forEach(each -> each.time.advance(WINDOW));
    int admitted = 0;
    for (int i = 0; i < 250; i++) {
      for (Node each : nodes) {
        admitted += each.ask(leased(hundred, 10, 1)).admitted() ? 1 : 0;
      }
    }
    assertThat(admitted).isEqualTo(100);
  }

  @Test
  void aLeaseIsRenewedAheadOfNeedAndLateRenewalsAreNotCredited() {
    Tier.Leased ahead = new Tier.Leased(new LeaseSize.Fixed(4), true, 2, 0);
    TieredClaim one = Node.claim(Role.ENFORCED, ahead, "user", hundred, 1);
    assertThat(node.admitted(1, one)).isEqualTo(1);
    store.hold();
    assertThat(node.admitted(2, one)).isEqualTo(2); // 2 are left: leases more without waiting
    assertThat(store.leases).hasSize(2);
    assertThat(node.counted.refills).isEqualTo(1);
    advance(WINDOW);
    store.answerAll();
    assertThat(node.counted.late).isEqualTo(4);
    assertThat(node.admitted(200, one)).isEqualTo(100);
  }

  @Test
  void idleUnitsAreReturnedForOthers() {
    Tier.Leased returning = new Tier.Leased(new LeaseSize.Fixed(60), true, 0, 2_000);
    TieredClaim one = Node.claim(Role.ENFORCED, returning, "user", hundred, 1);
    assertThat(node.ask(one).admitted()).isTrue();
    advance(1_999);
    node.timer.run();
    assertThat(store.givenBack).isEmpty();
    advance(1_001);
    node.timer.run();
    assertThat(store.givenBack).containsExactly(59L);
    assertThat(new Node(store).admitted(200, one)).isEqualTo(99);
  }

  @Test
  void unitsThatAreIdleBeforeTheNextSweepAreReturnedInTime() {
    Tier.Leased returning = new Tier.Leased(new LeaseSize.Fixed(60), true, 0, 200);
    TieredClaim one = Node.claim(Role.ENFORCED, returning, "user", hundred, 1);
    assertThat(node.ask(one).admitted()).isTrue();
    advance(150);
    assertThat(node.ask(one).admitted()).isTrue();
    advance(199);
    node.timer.run();
    assertThat(store.givenBack).as("used meanwhile").isEmpty();
    advance(10);
    node.timer.run();
    assertThat(store.givenBack).containsExactly(58L);
  }

  @Test
  void unitsPutBackAreReturnedBeforeTheNextSweepToo() {
    Tier.Leased returning = new Tier.Leased(new LeaseSize.Fixed(5), true, 0, 200);
    assertThat(node.ask(claim(Role.ENFORCED, returning, "user", hundred, 1)).admitted()).isTrue();
    Charge four = new Charge(Node.charge("user", hundred).key(), hundred, 4, Overrun.REFUSE);
    AcquireResult taken =
        node.tiers.leases.tryAcquire(
            four, returning, DataLoss.REFILL, true, node.time.monotonicNanos());
    advance(210);
    node.timer.run();
    node.tiers.leases.putBack(taken, 4);
    advance(210);
    node.timer.run();
    assertThat(store.givenBack).containsExactly(4L);
  }

  @Test
  void cellsThatMayBeIdleSoonShareATimer() {
    assertThat(node.ask(leased(hundred, 1, 1)).admitted()).isTrue();
    int timers = node.timer.size();
    Tier.Leased returning = new Tier.Leased(new LeaseSize.Fixed(2), true, 0, 200);
    for (int i = 0; i < 500; i++) {
      node.admitted(1, claim(Role.ENFORCED, returning, "user " + i, hundred, 1));
    }
    assertThat(node.timer.size()).isEqualTo(timers + 1);
    advance(200);
    node.timer.run();
    assertThat(store.givenBack).hasSize(500);
    assertThat(node.timer.size()).as("not for cells without units").isLessThanOrEqualTo(timers);
  }

  @Test
  void unitsOfEvictedCellsAreReturned() {
    Node small = new Node(store, new ManualTime(0), 1);
    for (int user = 0; user < 50; user++) {
      Tier tier = Node.batches(10);
      assertThat(small.ask(Node.claim(Role.ENFORCED, tier, "user" + user, hundred, 1)).admitted())
          .isTrue();
    }
    assertThat(store.givenBack).hasSizeGreaterThanOrEqualTo(48).containsOnly(9L);
  }

  @Test
  void closeReturnsLeasedUnits() {
    assertThat(node.ask(leased(hundred, 60, 1)).admitted()).isTrue();
    node.tiers.close();
    assertThat(new Node(store).admitted(200, leased(hundred, 60, 1))).isEqualTo(99);
  }

  @Test
  void aGrantForAnEvictedCellIsReturned() {
    store.hold();
    Reply reply = node.ask(leased(hundred, 60, 1));
    node.tiers.close();
    store.answerOne();
    assertThat(store.givenBack).containsExactly(60L);
    store.answerAll();
    assertThat(reply.admitted()).isTrue();
  }

  @Test
  void aHigherLimitIsLeasedAtOnce() {
    assertThat(node.admitted(200, leased(hundred, 50, 1))).isEqualTo(100);
    FixedWindow more = new FixedWindow(150, WINDOW);
    assertThat(node.admitted(200, leased(more, 50, 1))).isEqualTo(50);
  }

  @Test
  void refundsOfALeasedCounterAreCountedAndReopenIt() {
    assertThat(node.admitted(200, leased(hundred, 50, 1))).isEqualTo(100);
    assertThat(node.ask(leased(hundred, 50, -3)).admitted()).isTrue();
    assertThat(node.admitted(200, leased(hundred, 50, 1))).isEqualTo(3);
  }

  @Test
  void aPeekIsAnsweredByTheStoreAndLeasesNothing() {
    assertThat(node.ask(leased(hundred, 50, 0)).decision())
        .isEqualTo(Decision.admit(100, 100, WINDOW));
    assertThat(store.leases).isEmpty();
  }

  private void advance(long millis) {
    storeTime.advance(millis);
    node.time.advance(millis);
  }
}
