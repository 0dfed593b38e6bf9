package io.throttlekit.tier;

import static io.throttlekit.tier.Node.claim;
import static io.throttlekit.tier.Node.leased;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.lease.sizing.LeaseSizer;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.Node.Reply;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TiersTest {
  private static final long WINDOW = 10_000;
  private static final Tier STRICT = new Tier.Strict();
  private static final Tier CACHED = new Tier.CachedDeny();

  private final FixedWindow ten = new FixedWindow(10, WINDOW);
  private final FixedWindow two = new FixedWindow(2, WINDOW);
  private final ManualTime storeTime = new ManualTime(1_000_000);
  private final InMemoryStore counters = new InMemoryStore(storeTime, 10_000);
  private final HeldStore store = new HeldStore(counters);
  private final Node node = new Node(store);

  @Test
  void strictIsOneCallPerRequest() {
    Gcra pace = new Gcra(2, WINDOW);
    assertThat(node.ask(strict("a", pace), strict("b", ten)).admitted()).isTrue();
    assertThat(node.ask(strict("a", pace), strict("b", ten)).admitted()).isTrue();
    Reply third = node.ask(strict("a", pace), strict("b", ten));
    assertThat(third.admitted()).isFalse();
    assertThat(third.outcome().decidedBy()).containsOnly(DecidedBy.STORE);
    assertThat(store.acquired).hasSize(3);
  }

  @Test
  void aCachedRefusalAnswersUntilItsRetryTime() {
    Gcra pace = new Gcra(1, WINDOW);
    TieredClaim one = claim(Role.ENFORCED, CACHED, "a", pace, 1);
    assertThat(node.ask(one).admitted()).isTrue();
    assertThat(node.ask(one).decidedBy()).isEqualTo(DecidedBy.STORE);
    assertThat(node.admitted(50, one)).isZero();
    assertThat(store.acquired).hasSize(2);
    advance(WINDOW - 10);
    Reply shortly = node.ask(one);
    assertThat(shortly.decidedBy()).isEqualTo(DecidedBy.CACHED_DENIAL);
    assertThat(shortly.decision()).isEqualTo(Decision.refuse(1, 0, 10, 10));
    advance(10);
    assertThat(node.ask(one).admitted()).isTrue();
    assertThat(store.acquired).hasSize(3);
  }

  @Test
  void aRefusedCostDoesNotRefuseSmallerOnes() {
    assertThat(node.ask(cached("a", ten, 6)).admitted()).isTrue();
    assertThat(node.ask(cached("a", ten, 5)).admitted()).isFalse();
    assertThat(node.ask(cached("a", ten, 4)).admitted()).isTrue();
    assertThat(node.ask(cached("a", ten, 7)).decidedBy()).isEqualTo(DecidedBy.CACHED_DENIAL);
  }

  @Test
  void theSmallestRefusedCostIsCached() {
    assertThat(node.ask(cached("a", ten, 8)).admitted()).isTrue();
    assertThat(node.ask(cached("a", ten, 3)).admitted()).isFalse();
    assertThat(node.ask(cached("a", ten, 9)).admitted()).isFalse();
    assertThat(node.ask(cached("a", ten, 3)).decidedBy()).isEqualTo(DecidedBy.CACHED_DENIAL);
    assertThat(store.acquired).hasSize(2);
  }

  @Test
  void aRefusalCausedByASiblingIsNotCached() {
    assertThat(node.ask(cached("a", ten, 3)).admitted()).isTrue();
    assertThat(node.ask(cached("a", ten, 4), cached("a", ten, 4)).admitted()).isFalse();
    assertThat(node.ask(cached("a", ten, 4)).admitted()).isTrue();
  }

  @Test
  void aLaterRefusalOfALargerCostKeepsThatOfASmallerOne() {
    assertThat(node.ask(cached("a", ten, 8)).admitted()).isTrue();
    store.hold();
    node.ask(cached("a", ten, 3));
    node.ask(cached("a", ten, 9));
    store.answerAll();
    assertThat(node.ask(cached("a", ten, 3)).decidedBy()).isEqualTo(DecidedBy.CACHED_DENIAL);
  }

  @Test
  void aRefundOrAnotherLimitClearsACachedRefusal() {
    assertThat(node.ask(cached("a", ten, 10)).admitted()).isTrue();
    assertThat(node.ask(cached("a", ten, 1)).admitted()).isFalse();
    assertThat(node.ask(cached("a", ten, -1)).admitted()).isTrue();
    assertThat(node.ask(cached("a", ten, 1)).admitted()).isTrue();
    assertThat(node.ask(cached("a", ten, 1)).admitted()).isFalse();
    assertThat(node.ask(cached("a", new FixedWindow(11, WINDOW), 1)).admitted()).isTrue();
  }

  @Test
  void aCachedRefusalEndsWithItsLimit() {
    Gcra daily = new Gcra(1, 86_400_000, 1);
    Gcra often = new Gcra(1_000, 86_400_000, 1);
    assertThat(node.ask(claim(Role.ENFORCED, CACHED, "a", daily, 1)).admitted()).isTrue();
    assertThat(node.ask(claim(Role.ENFORCED, CACHED, "a", daily, 1)).admitted()).isFalse();
    int asked = store.acquired.size();
    assertThat(node.ask(claim(Role.ENFORCED, CACHED, "a", daily, 1)).admitted()).isFalse();
    assertThat(store.acquired).hasSize(asked);
    node.ask(claim(Role.ENFORCED, CACHED, "a", often, 1));
    assertThat(store.acquired).as("the store is called again").hasSize(asked + 1);
  }

  @Test
  void leasedUnitsArePutBackWhenAnotherDescriptorRefuses() {
    TieredClaim lease = leased(ten, 10, 3);
    assertThat(node.ask(lease, strict("b", two)).admitted()).isTrue();
    assertThat(node.ask(lease, strict("b", two)).admitted()).isTrue();
    Reply refused = node.ask(lease, strict("b", two));
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.decision()).isEqualTo(Decision.admit(10, 4, WINDOW));
    assertThat(node.ask(leased(ten, 10, 4)).admitted()).isTrue();
  }

  @Test
  void unitsOfAWindowAreNotPutBackIntoTheNext() {
    assertThat(node.ask(strict("b", two)).admitted()).isTrue();
    assertThat(node.ask(strict("b", two)).admitted()).isTrue();
    assertThat(node.ask(leased(ten, 10, 3)).admitted()).isTrue();
    store.hold();
    Reply slow = node.ask(leased(ten, 10, 3), strict("b", two));
    advance(WINDOW);
    Reply next = node.ask(leased(ten, 5, 1)); // another size: another cell
    store.answerAll();
    assertThat(slow.admitted()).isFalse();
    assertThat(next.admitted()).isTrue();
    assertThat(node.admitted(50, leased(ten, 5, 1))).isEqualTo(9);
  }

  @Test
  void aReloadReturnsLeasesAndAppliesTheNewPolicy() {
    assertThat(node.ask(leased(ten, 10, 1)).admitted()).isTrue();
    assertThat(node.ask(leased(ten, 4, 1)).admitted()).isTrue();
    assertThat(store.givenBack).containsExactly(9L);
    assertThat(store.leases.getLast().units()).isEqualTo(4);
  }

  @Test
  void requestsBeforeAndAfterAReloadShareALease() {
    FixedWindow roomy = new FixedWindow(100, WINDOW);
    store.hold();
    Reply before = node.ask(leased(roomy, 10, 1));
    Reply after = node.ask(leased(roomy, 4, 1));
    store.answerOne(); // repeated under the same id, for the current cell
    store.answerOne();
    assertThat(before.admitted()).isTrue();
    assertThat(after.admitted()).isTrue();
    assertThat(store.unanswered()).isZero();
    assertThat(store.givenBack).isEmpty();
  }

  @Test
  void aWaitingRequestCountsAsDemandOnce() {
    FixedWindow thousand = new FixedWindow(1_000, WINDOW);
    Tier adaptive = new Tier.Leased(new LeaseSize.Adaptive(), true, 0, 0);
    LeaseSizer expected = LeaseSizer.of(new LeaseSize.Adaptive(), 1_000);
    for (int i = 0; i < 3; i++) {
      assertThat(node.ask(claim(Role.ENFORCED, adaptive, "a", thousand, 300)).admitted()).isTrue();
    }
    advance(WINDOW);
    assertThat(node.ask(claim(Role.ENFORCED, adaptive, "a", thousand, 1)).admitted()).isTrue();
    expected.observe(900, 1_000);
    assertThat(store.leases.getLast().units()).isEqualTo(expected.size(0, 1_000));
  }

  @Test
  void aLocalRefusalCausesNoCallAndNoCharge() {
    assertThat(node.admitted(20, leased(ten, 10, 1))).isEqualTo(10);
    Reply refused = node.ask(leased(ten, 10, 1), strict("b", two));
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.outcome().decidedBy()).containsExactly(DecidedBy.LEASE, DecidedBy.NONE);
    assertThat(refused.outcome().decisions().get(1)).isEqualTo(Decision.admit(2, 2, 0));
    assertThat(store.acquired).isEmpty();
  }

  @Test
  void overdraftsAreCountedDespiteALocalRefusal() {
    assertThat(node.admitted(20, leased(ten, 10, 1))).isEqualTo(10);
    Charge debt = new Charge(Node.key("b"), two, 5, Overrun.OVERDRAFT);
    TieredClaim overdraft =
        new TieredClaim(new Claim(Role.ENFORCED, List.of(debt)), STRICT, Outage.ERROR);
    Reply refused = node.ask(leased(ten, 10, 1), overdraft);
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.outcome().decisions().get(1).remaining()).isEqualTo(-3);
    assertThat(counters.decide(new Charge(Node.key("b"), two, 1, Overrun.REFUSE)).admitted())
        .isFalse();
  }

  @Test
  void aLocallyAdmittingQuotaKeepsOthersFromRefusing() {
    assertThat(node.ask(strict("b", two), strict("b", two)).admitted()).isTrue();
    TieredClaim lease = claim(Role.QUOTA, Node.batches(10), "user", ten, 1);
    TieredClaim full = claim(Role.QUOTA, STRICT, "b", two, 1);
    assertThat(node.ask(lease, full).admitted()).isTrue();
    assertThat(node.admitted(9, lease)).isEqualTo(9);
    assertThat(node.ask(lease, full).admitted()).isFalse();
    assertThat(node.ask(lease, claim(Role.QUOTA, STRICT, "c", two, 1)).admitted()).isTrue();
  }

  @Test
  void aShadowClaimRefusesNothingAndIsNotChargedIfRefused() {
    TieredClaim shadow = claim(Role.SHADOW, Node.batches(10), "user", ten, 1);
    assertThat(node.admitted(15, shadow)).isEqualTo(15);
    advance(WINDOW);
    assertThat(node.ask(strict("b", two), strict("b", two)).admitted()).isTrue();
    assertThat(node.ask(shadow, strict("b", two)).admitted()).isFalse();
    assertThat(node.ask(claim(Role.ENFORCED, Node.batches(10), "user", ten, 10)).admitted())
        .isTrue();
  }

  @Test
  void severalLeasesOfOneRequestAreAwaitedTogether() {
    store.hold();
    Reply reply =
        node.ask(
            claim(Role.ENFORCED, Node.batches(5), "a", ten, 1),
            claim(Role.ENFORCED, Node.batches(5), "b", ten, 1));
    assertThat(store.unanswered()).isEqualTo(2);
    store.answerOne();
    assertThat(reply.isThere()).isFalse();
    store.answerOne();
    assertThat(reply.admitted()).isTrue();
    assertThat(node.counted.leased).isEqualTo(10);
  }

  @ParameterizedTest
  @EnumSource(Outage.class)
  void anOutageIsAnsweredByTheOutageModeOfTheClaim(Outage outage) {
    store.fail(true);
    for (Tier tier : List.of(STRICT, CACHED, Node.batches(5))) {
      Reply reply = node.ask(claim(Role.ENFORCED, tier, outage, tier.toString(), ten, 1));
      if (outage == Outage.ERROR) {
        assertThat(reply.failure).hasMessageContaining("store");
        continue;
      }
      assertThat(reply.decidedBy()).isEqualTo(DecidedBy.OUTAGE);
      assertThat(reply.admitted()).isEqualTo(outage != Outage.DENY);
    }
    assertThat(node.counted.outages).hasSize(3).containsOnly(outage);
  }

  @Test
  void inAnOutageThisProcessAdmitsItsShareByItself() {
    store.fail(true);
    TieredClaim local = claim(Role.ENFORCED, STRICT, Outage.LOCAL, "a", ten, 1);
    assertThat(node.admitted(50, local)).isEqualTo(5);
    store.fail(false);
    assertThat(node.admitted(50, local)).isEqualTo(10);
  }

  @Test
  void aClaimWithOutageErrorFailsTheRequestWithoutCharge() {
    assertThat(node.ask(leased(ten, 10, 1)).admitted()).isTrue();
    store.fail(true);
    Reply reply =
        node.ask(
            leased(ten, 10, 4),
            claim(Role.ENFORCED, STRICT, Outage.ALLOW, "b", two, 1),
            claim(Role.ENFORCED, STRICT, Outage.ERROR, "c", two, 1));
    assertThat(reply.failure).isNotNull();
    assertThat(node.ask(leased(ten, 10, 9)).admitted()).isTrue();
  }

  @Test
  void aDataLossClearsCachedRefusals() {
    assertThat(node.admitted(3, cached("a", two, 1))).isEqualTo(2);
    assertThat(node.admitted(20, leased(ten, 10, 1))).isEqualTo(10);
    counters.reset(Node.key("a"), two);
    counters.reset(Node.key("user"), ten);
    assertThat(node.ask(cached("a", two, 1)).decidedBy()).isEqualTo(DecidedBy.CACHED_DENIAL);
    assertThat(node.ask(leased(ten, 10, 1)).decidedBy()).isEqualTo(DecidedBy.LEASE);
    node.tiers.forgetRefusals();
    assertThat(node.admitted(3, cached("a", two, 1))).isEqualTo(2);
    assertThat(node.admitted(20, leased(ten, 10, 1))).isEqualTo(10);
  }

  @Test
  void leasedUnitsAreSpentDuringAnOutage() {
    assertThat(node.ask(leased(ten, 10, 1)).admitted()).isTrue();
    store.fail(true);
    assertThat(node.admitted(9, leased(ten, 10, 1))).isEqualTo(9);
  }

  @Test
  void aClaimHasAtLeastOneCharge() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new TieredClaim(Role.ENFORCED, List.of(), DataLoss.REFILL, STRICT, Outage.ERROR))
        .withMessage("a claim needs at least one charge");
  }

  @Test
  void aRequestRejectedByTheStorePutsLeasedUnitsBack() {
    assertThat(node.ask(leased(ten, 5, 1)).admitted()).isTrue();
    store.rejectRequests();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> node.ask(leased(ten, 5, 4), strict("b", ten)));
    assertThat(node.admitted(4, leased(ten, 5, 1))).as("put back").isEqualTo(4);
    assertThat(store.leases).hasSize(1);
  }

  @Test
  void withOutageErrorTheFailureOfALeaseIsReported() {
    store.fail(true);
    assertThat(node.ask(leased(ten, 5, 1)).failure).hasMessage(HeldStore.NO_ANSWER);
  }

  @Test
  void anInvalidAnswerOfTheStoreFailsTheRequest() {
    store.answerInvalid();
    Reply reply = node.ask(leased(ten, 5, 1), strict("b", ten));
    assertThat(reply.failure).hasMessageStartingWith("the store failed: ");
    assertThat(node.admitted(5, leased(ten, 5, 1))).as("put back").isEqualTo(5);
    assertThat(store.leases).hasSize(1);
  }

  private static TieredClaim strict(String user, RateAlgorithm<?> algorithm) {
    return claim(Role.ENFORCED, STRICT, user, algorithm, 1);
  }

  private static TieredClaim cached(String user, FixedWindow window, long cost) {
    return claim(Role.ENFORCED, CACHED, user, window, cost);
  }

  private void advance(long millis) {
    storeTime.advance(millis);
    node.time.advance(millis);
  }
}
