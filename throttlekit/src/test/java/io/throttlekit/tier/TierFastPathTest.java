package io.throttlekit.tier;

import static io.throttlekit.tier.Node.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.Node.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests decisions without a request object, and the request that follows where there is none. */
class TierFastPathTest {
  private static final long WINDOW = 10_000;
  private static final long SUSPENSION_CHECK =
      TimeUnit.NANOSECONDS.toMillis(Suspension.EVERY_NANOS);

  private final FixedWindow ten = new FixedWindow(10, WINDOW);
  private final Tier.Leased five = Node.batches(5);
  private final ManualTime time = new ManualTime(1_000_000);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final HeldStore store = new HeldStore(new InMemoryStore(time, 10_000));
  private final List<DecidedBy> decided = new ArrayList<>();
  private final TierListener listener =
      new TierListener() {
        @Override
        public void decided(DecidedBy by) {
          decided.add(by);
        }
      };
  private final Tiers tiers =
      new Tiers(
          store,
          time,
          timer,
          new TierSettings(1_000, TimeUnit.MILLISECONDS.toNanos(Node.PATIENCE_MILLIS), 0.5),
          listener);

  @Test
  void leasedUnitsDecideAtOnce() {
    assertThat(tryAcquire(five, 1)).as("none are leased").isNull();
    assertThat(decided).isEmpty();
    assertThat(tiers.acquire(List.of(of(five, 1))).toCompletableFuture()).isCompleted();
    decided.clear();
    assertThat(tryAcquire(five, 2)).isEqualTo(Decision.admit(10, 7, WINDOW));
    assertThat(decided).containsExactly(DecidedBy.LEASE);
    assertThat(tryAcquire(five, 3)).as("2 are left").isNull();
    assertThat(tryAcquire(five, 2)).isEqualTo(Decision.admit(10, 5, WINDOW));
    assertThat(store.leases).hasSize(1);
    assertThat(store.acquired).isEmpty();
  }

  @Test
  void anExhaustedLimitDecidesAtOnce() {
    for (int i = 0; i < 10; i++) {
      assertThat(outcome(of(five, 1)).admitted()).isTrue();
    }
    assertThat(outcome(of(five, 1)).admitted()).isFalse();
    assertThat(tryAcquire(five, 1)).isEqualTo(Decision.refuse(10, 0, WINDOW, WINDOW));
  }

  @Test
  void peeksRefundsAndOtherTiersTakeTheFullPath() {
    assertThat(outcome(of(five, 1)).admitted()).isTrue();
    assertThat(tryAcquire(five, 0)).isNull();
    assertThat(tryAcquire(five, -1)).isNull();
    assertThat(tryAcquire(new Tier.Strict(), 1)).isNull();
    assertThat(tryAcquire(new Tier.CachedDeny(), 1)).isNull();
    assertThat(tryAcquire(five, 4)).as("nothing was charged").isNotNull();
  }

  @Test
  void unitsAreNotSpentAfterASuspension() {
    assertThat(outcome(of(five, 1)).admitted()).isTrue();
    time.setWall(time.wallMillis() + 1_000);
    time.advance(SUSPENSION_CHECK - 1);
    assertThat(tryAcquire(five, 1)).as("the clocks are not compared each time").isNotNull();
    time.advance(1);
    assertThat(tryAcquire(five, 1)).isNull();
    assertThat(store.givenBack).containsExactly(3L);
  }

  @Test
  void afterAMissTheRequestLeases() {
    store.hold();
    assertThat(tryAcquire(five, 1)).isNull();
    Reply reply = new Reply();
    assertThat(tiers.acquireAfterMiss(of(five, 1), reply)).isNull();
    assertThat(store.leases).hasSize(1);
    assertThat(reply.isThere()).isFalse();
    store.answerAll();
    assertThat(reply.decision()).isEqualTo(Decision.admit(10, 9, WINDOW));
    assertThat(reply.decidedBy()).isEqualTo(DecidedBy.LEASE);
    assertThat(store.acquired).isEmpty();
  }

  @Test
  void afterAMissAtTheEndOfAWindowTheStoreDecides() {
    assertThat(outcome(of(five, 1)).admitted()).isTrue();
    time.advance(WINDOW - 5);
    assertThat(tryAcquire(five, 1)).isNull();
    Reply reply = new Reply();
    assertThat(tiers.acquireAfterMiss(of(five, 1), reply)).isNull();
    assertThat(reply.decidedBy()).isEqualTo(DecidedBy.STORE);
    assertThat(store.leases).as("a lease would be too late").hasSize(1);
    assertThat(store.acquired).hasSize(1);
  }

  @Test
  void afterAMissAPeekOrAnotherTierTakesTheFullPath() {
    assertThat(outcome(of(five, 1)).admitted()).isTrue();
    Reply peek = new Reply();
    assertThat(tiers.acquireAfterMiss(of(five, 0), peek)).isNull();
    assertThat(peek.decidedBy()).isEqualTo(DecidedBy.STORE);
    assertThat(store.leases).hasSize(1);
    Reply strict = new Reply();
    assertThat(tiers.acquireAfterMiss(of(new Tier.Strict(), 1), strict)).isNull();
    assertThat(strict.decidedBy()).isEqualTo(DecidedBy.STORE);
    assertThat(store.acquired).hasSize(2);
  }

  @Test
  void aMissIsCountedAsDemandOnce() {
    Tier.Leased adaptive = new Tier.Leased(new LeaseSize.Adaptive(), true, 0, 0);
    for (int i = 0; i < 3; i++) {
      if (tryAcquire(adaptive, 1) == null) {
        assertThat(tiers.acquireAfterMiss(of(adaptive, 1), new Reply())).isNull();
      }
    }
    assertThat(tiers.cells()).isEqualTo(1);
    assertThat(decided).hasSize(3).containsOnly(DecidedBy.LEASE);
  }

  @Test
  void aStageIsCompleteWhenMemoryOrTheStoreHasDecided() {
    CompletableFuture<TieredOutcome> leased =
        tiers.acquire(List.of(of(five, 1))).toCompletableFuture();
    assertThat(leased.join().admitted()).isTrue();
    store.hold();
    CompletableFuture<TieredOutcome> held =
        tiers.acquire(List.of(of(new Tier.Strict(), 1))).toCompletableFuture();
    assertThat(held).isNotDone();
    store.answerAll();
    assertThat(held.join().admitted()).isTrue();
    store.fail(true);
    assertThat(tiers.acquire(List.of(of(new Tier.Strict(), 1))).toCompletableFuture())
        .isCompletedExceptionally();
  }

  private TieredOutcome outcome(TieredClaim claim) {
    return tiers.acquire(List.of(claim)).toCompletableFuture().join();
  }

  private @Nullable Decision tryAcquire(Tier tier, long cost) {
    Charge charge = new Charge(Node.key("user"), ten, cost, Overrun.REFUSE);
    return tiers.tryAcquire(charge, tier, DataLoss.REFILL);
  }

  private TieredClaim of(Tier tier, long cost) {
    return claim(Role.ENFORCED, tier, "user", ten, cost);
  }
}
