package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.tier.Node.Reply;
import org.junit.jupiter.api.Test;

/** Tests each tier with a counter that tenants share. */
class FairTiersTest {
  private static final long WINDOW = 10_000;
  private static final long IDLE = 2_000;
  private static final Tier STRICT = new Tier.Strict();
  private static final Tier CACHED = new Tier.CachedDeny();
  private static final Tier TENS = Node.batches(10);

  private final FairRule rule = FairRule.of(100, WINDOW);
  private final FairTenant a = rule.tenant("a", 1);
  private final FairTenant b = rule.tenant("b", 1);
  private final ManualTime time = new ManualTime(1_000_000);
  private final InMemoryStore counters = new InMemoryStore(time, 10_000);
  private final HeldStore store = new HeldStore(counters);
  private final Node node = new Node(store, time, 1_000);

  @Test
  void aStrictTierDecidesLikeTheStore() {
    node.admitted(1, rule.claim(STRICT, a, 1));
    Decision first = node.ask(rule.claim(STRICT, b, 10)).decision();
    assertThat(first).isEqualTo(Decision.admit(50, 40, WINDOW));
    assertThat(node.admitted(100, rule.claim(STRICT, a, 1))).isEqualTo(49);
    assertThat(node.ask(rule.claim(STRICT, a, 1)).decision())
        .isEqualTo(Decision.refuse(50, 0, WINDOW, WINDOW));
  }

  @Test
  void eachTenantLeasesUnitsOfItsOwn() {
    assertThat(node.admitted(5, rule.claim(TENS, a, 1))).isEqualTo(5);
    assertThat(node.admitted(5, rule.claim(TENS, b, 1))).isEqualTo(5);
    assertThat(store.leases)
        .extracting(LeaseRequest::key, LeaseRequest::tenant)
        .containsExactly(tuple(rule.pool(), a), tuple(rule.pool(), b));
    assertThat(node.tiers.cells()).isEqualTo(2);
  }

  @Test
  void leasesOfTwoTenantsAreInFlightAtOnce() {
    store.hold();
    Reply ofA = node.ask(rule.claim(TENS, a, 1));
    Reply ofB = node.ask(rule.claim(TENS, b, 1));
    assertThat(store.leases).hasSize(2);
    store.answerAll();
    assertThat(ofA.admitted()).isTrue();
    assertThat(ofB.admitted()).isTrue();
  }

  @Test
  void anExhaustedTenantSaysNothingAboutAnother() {
    activateBoth();
    assertThat(node.admitted(100, rule.claim(TENS, a, 1))).isEqualTo(50);
    int calls = store.leases.size();
    assertThat(node.admitted(100, rule.claim(TENS, a, 1))).isZero();
    assertThat(store.leases).as("a refused lease is not repeated").hasSize(calls);
    assertThat(node.admitted(100, rule.claim(TENS, b, 1))).isEqualTo(50);
  }

  @Test
  void reportsWhatTheTenantMayTakeNotWhatThePoolHas() {
    activateBoth();
    assertThat(node.ask(rule.claim(TENS, a, 1)).decision())
        .isEqualTo(Decision.admit(50, 49, WINDOW));
    node.admitted(49, rule.claim(TENS, a, 1));
    assertThat(node.ask(rule.claim(TENS, a, 1)).decision())
        .isEqualTo(Decision.refuse(50, 0, WINDOW, WINDOW));
    assertThat(node.ask(rule.claim(TENS, a, 101)).decision().neverFits()).isTrue();
    assertThat(node.ask(rule.claim(TENS, a, 51)).decision().neverFits()).isFalse();
  }

  @Test
  void aLeaseIsNoLargerThanWhatTheTenantMayTake() {
    activateBoth();
    Tier hundreds = Node.batches(100);
    node.admitted(1, rule.claim(hundreds, a, 1));
    time.advance(WINDOW);
    node.admitted(1, rule.claim(hundreds, a, 1));
    assertThat(store.leases).extracting(LeaseRequest::units).containsExactly(100L, 50L);
  }

  @Test
  void aLeaseHasTheWeightOfTheNewestRequest() {
    node.admitted(10, rule.claim(TENS, a, 1));
    node.admitted(10, rule.claim(TENS, b, 1));
    FairTenant upgraded = rule.tenant("a", 3);
    assertThat(node.admitted(100, rule.claim(TENS, upgraded, 1))).isEqualTo(65);
    assertThat(store.leases.getLast().tenant()).isEqualTo(upgraded);
  }

  @Test
  void idleUnitsReturnToTheTenantThatLeasedThem() {
    activateBoth();
    Tier idle = new Tier.Leased(new LeaseSize.Fixed(20), true, 0, IDLE);
    node.admitted(5, rule.claim(idle, a, 1));
    node.admitted(5, rule.claim(idle, b, 1));
    time.advance(IDLE);
    node.timer.run();
    assertThat(store.givenBack).containsExactlyInAnyOrder(15L, 15L);
    assertThat(remaining(a)).isEqualTo(45);
    assertThat(remaining(b)).isEqualTo(45);
  }

  @Test
  void idleUnitsOfATenantReturnWithinAWindowOfASecond() {
    FairRule perSecond = FairRule.of(100, 1_000);
    Tier tier = new Tier.Leased(new LeaseSize.Fixed(40), true, 0, 30_000);
    FairTenant moving = perSecond.tenant("moving", 1);
    node.admitted(40, perSecond.claim(tier, moving, 1));
    assertThat(node.ask(perSecond.claim(tier, moving, 1)).admitted()).isTrue();
    time.advance(124); // an eighth of the window, less 1 ms
    node.timer.run();
    assertThat(store.givenBack).isEmpty();
    time.advance(11);
    node.timer.run();
    assertThat(store.givenBack).containsExactly(39L);
    assertThat(new Node(store, time, 10).admitted(100, perSecond.claim(tier, moving, 1)))
        .as("at another process, in the same window")
        .isEqualTo(100 - 41);
  }

  @Test
  void aRefusedTenantAsksAgainInAWindowOfASecondForWhatOthersReturned() {
    FairRule perSecond = FairRule.of(100, 1_000);
    Tier tier = new Tier.Leased(new LeaseSize.Fixed(50), true, 0, 30_000);
    TieredClaim claim = perSecond.claim(tier, perSecond.tenant("moving", 1), 1);
    Node other = new Node(store, time, 10);
    assertThat(node.ask(claim).admitted()).isTrue();
    assertThat(other.admitted(60, claim)).isEqualTo(50);
    int leases = store.leases.size();
    int admitted = 0;
    for (int millis = 0; millis < 900; millis += 10) {
      time.advance(10);
      node.timer.run();
      other.timer.run();
      admitted += other.admitted(1, claim);
    }
    assertThat(node.counted.unitsReturned).isEqualTo(49);
    assertThat(admitted).as("in the second half of the window").isBetween(40, 41);
    assertThat(store.leases.size() - leases).as("after a quarter, and after half").isEqualTo(2);
  }

  @Test
  void aRefundAtTheStoreReopensTheTenantOnly() {
    activateBoth();
    node.admitted(100, rule.claim(TENS, a, 1));
    node.admitted(100, rule.claim(TENS, b, 1));
    assertThat(node.ask(rule.claim(TENS, a, -7)).admitted()).isTrue();
    assertThat(node.admitted(100, rule.claim(TENS, a, 1))).isEqualTo(7);
    assertThat(node.admitted(100, rule.claim(TENS, b, 1))).isZero();
  }

  @Test
  void aPeekActivatesNoTenant() {
    node.admitted(1, rule.claim(TENS, a, 1));
    assertThat(node.ask(rule.claim(TENS, b, 0)).decision().remaining()).isEqualTo(50);
    assertThat(remaining(a)).as("10 are leased").isEqualTo(90);
  }

  @Test
  void unitsOfATenantEndWithTheirWindowWhateverTheRuleSays() {
    Tier carrying = new Tier.Leased(new LeaseSize.Fixed(50), false, 0, 0);
    node.admitted(1, rule.claim(carrying, a, 1));
    time.advance(WINDOW);
    assertThat(node.admitted(200, rule.claim(carrying, a, 1))).isEqualTo(100);
  }

  @Test
  void aCachedRefusalIsOfOneTenantUntilItsReset() {
    activateBoth();
    assertThat(node.admitted(60, rule.claim(CACHED, a, 1))).isEqualTo(50);
    int calls = store.acquired.size();
    time.advance(WINDOW - 1);
    Reply cached = node.ask(rule.claim(CACHED, a, 1));
    assertThat(cached.decision()).isEqualTo(Decision.refuse(50, 0, 1, 1));
    assertThat(cached.decidedBy()).isEqualTo(DecidedBy.CACHED_DENIAL);
    assertThat(store.acquired).hasSize(calls);
    assertThat(node.admitted(60, rule.claim(CACHED, b, 1))).isEqualTo(50);
    assertThat(node.ask(rule.claim(CACHED, a, 1)).decidedBy())
        .as("beside that of another")
        .isEqualTo(DecidedBy.CACHED_DENIAL);
    time.advance(1);
    assertThat(node.ask(rule.claim(CACHED, a, 1)).admitted()).isTrue();
  }

  @Test
  void aCachedRefusalOfACostThatFitsAnotherTimeIsNotForever() {
    activateBoth();
    node.admitted(60, rule.claim(CACHED, a, 1));
    assertThat(node.ask(rule.claim(CACHED, a, 51)).decision().retryAfterMillis()).isEqualTo(WINDOW);
    assertThat(node.ask(rule.claim(CACHED, a, 101)).decision().neverFits()).isTrue();
  }

  @Test
  void anotherWeightIsNotAnsweredByACachedRefusal() {
    activateBoth();
    node.admitted(60, rule.claim(CACHED, a, 1));
    assertThat(node.ask(rule.claim(CACHED, rule.tenant("a", 3), 1)).admitted()).isTrue();
  }

  @Test
  void inAnOutageTenantsShareTheLocalPart() {
    store.fail(true);
    node.admitted(1, local(a));
    node.admitted(1, local(b));
    assertThat(node.admitted(100, local(a))).isEqualTo(24);
    assertThat(node.admitted(100, local(b))).isEqualTo(24);
    time.advance(WINDOW);
    assertThat(node.admitted(100, local(b))).isEqualTo(25);
    assertThat(node.admitted(100, local(a))).isEqualTo(25);
  }

  private TieredClaim local(FairTenant tenant) {
    return rule.claim(STRICT, Outage.LOCAL, tenant, 1);
  }

  /** Lets both tenants ask in the window before. */
  private void activateBoth() {
    counters.decide(rule.charge(a, 1));
    counters.decide(rule.charge(b, 1));
    time.advance(WINDOW);
  }

  private long remaining(FairTenant tenant) {
    return counters.decide(rule.charge(tenant, 0)).remaining();
  }
}
