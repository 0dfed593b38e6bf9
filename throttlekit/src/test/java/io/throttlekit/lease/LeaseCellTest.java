package io.throttlekit.lease;

import static io.throttlekit.lease.GlobalCells.END;
import static io.throttlekit.lease.GlobalCells.HUNDRED;
import static io.throttlekit.lease.GlobalCells.IDLE;
import static io.throttlekit.lease.GlobalCells.ms;
import static io.throttlekit.lease.GlobalCells.tier;
import static io.throttlekit.lease.GlobalCells.units;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.lease.AcquireResult.Kind;
import io.throttlekit.lease.LeaseWaiter.End;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.tier.FairRule;
import io.throttlekit.tier.Node;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests what cells of both tiers share: waiting requests, idle units and the end of a cell. */
class LeaseCellTest {
  private static final LeaseSize TEN = new LeaseSize.Fixed(10);

  private final LeaseWaiter first = (cell, end, failure) -> {};
  private final LeaseWaiter second = (cell, end, failure) -> {};

  static List<Tier.Leasing> tiers() {
    return List.of(new Tier.Leased(TEN, true, 0, IDLE), tier(HUNDRED, TEN, 0, IDLE));
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void requestsWaitForTheLeaseInFlightOnly(Tier.Leasing tier) {
    LeaseCell cell = cell(tier);
    assertThat(cell.await(first)).as("no lease is in flight").isFalse();
    assertThat(GlobalCells.wanted(cell, 1, 0)).isEqualTo(10);
    assertThat(cell.await(first)).isTrue();
    assertThat(cell.await(second)).isTrue();
    Completed completed = cell.complete(10, units(10, END, END, 90), 0, 0);
    assertThat(completed).isEqualTo(new Completed(List.of(first, second), End.CREDITED, 0));
    assertThat(cell.await(first)).as("it has been answered").isFalse();
    assertThat(cell.takeWaiters()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void aRequestThatHasBeenAnsweredWaitsNoLonger(Tier.Leasing tier) {
    LeaseCell cell = cell(tier);
    assertThat(GlobalCells.wanted(cell, 1, 0)).isEqualTo(10);
    cell.await(first);
    cell.await(second);
    cell.forget(first);
    assertThat(cell.fail()).isEqualTo(new Completed(List.of(second), End.FAILED, 0));
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void requestsThatWaitAtARetiredCellRetryWhenItsLeaseFails(Tier.Leasing tier) {
    LeaseCell cell = cell(tier);
    assertThat(cell.isRetired()).isFalse();
    assertThat(GlobalCells.wanted(cell, 1, 0)).isEqualTo(10);
    cell.await(first);
    cell.retire(0);
    assertThat(cell.isRetired()).isTrue();
    assertThat(cell.fail()).isEqualTo(new Completed(List.of(first), End.CREDITED, 0));
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void aCellIsKeptForAMinuteAfterItsLastUse(Tier.Leasing tier) {
    LeaseCell cell = cell(tier);
    take(cell, 1, ms(500));
    assertThat(cell.isForgettable(ms(60_500) - 1)).isFalse();
    assertThat(cell.isForgettable(ms(60_500))).isTrue();
    assertThat(GlobalCells.wanted(cell, 1, ms(60_500))).isEqualTo(10);
    assertThat(cell.isForgettable(ms(60_500))).as("a lease is in flight").isFalse();
  }

  @Test
  void aCellOfALongWindowIsKeptForAWindow() {
    FixedWindow hour = new FixedWindow(100, 3_600_000);
    LeaseCell cell =
        LeaseCell.of(Node.charge("user", hour), new Tier.Leased(TEN, true, 0, IDLE), 0);
    assertThat(cell.isForgettable(ms(3_600_000) - 1)).isFalse();
    assertThat(cell.isForgettable(ms(3_600_000))).isTrue();
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void idleUnitsAreLookedForOnceInAnIdleTime(Tier.Leasing tier) {
    LeaseCell cell = cell(tier);
    assertThat(cell.nanosToIdle(0)).as("without units").isZero();
    grant(cell, 10, 0);
    assertThat(cell.nanosToIdle(0)).isEqualTo(ms(IDLE));
    take(cell, 1, ms(500));
    assertThat(cell.nanosToIdle(ms(500))).as("called at 2 s").isZero();
    assertThat(cell.takeIdle(ms(2_000)).units()).isZero();
    assertThat(cell.nanosToIdle(ms(2_000))).isEqualTo(ms(500));
    assertThat(cell.takeIdle(ms(2_500)).units()).isEqualTo(9);
    assertThat(cell.nanosToIdle(ms(2_500))).as("without units").isZero();
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void idleUnitsAreNotLookedForDuringALeaseOrAfterTheEnd(Tier.Leasing tier) {
    LeaseCell cell = cell(tier);
    grant(cell, 10, 0);
    assertThat(GlobalCells.wanted(cell, 11, 0)).isPositive();
    assertThat(cell.nanosToIdle(0)).as("during a lease").isZero();
    cell.complete(10, units(10, END, END, 80), 0, 0);
    assertThat(cell.nanosToIdle(ms(100))).isEqualTo(ms(IDLE - 100));
    cell.retire(ms(2_000));
    assertThat(cell.putBack(5, END)).isFalse();
    assertThat(cell.nanosToIdle(ms(2_000))).as("retired").isZero();
  }

  @Test
  void unitsThatAreNeverReturnedAreNotLookedFor() {
    LeaseCell cell = cell(new Tier.Leased(TEN, true, 0, 0));
    grant(cell, 10, 0);
    assertThat(cell.nanosToIdle(0)).isZero();
    assertThat(cell.takeIdle(ms(9_000)).units()).isZero();
  }

  @Test
  void unitsOfATenantAreLookedForAfterTheShortestIdleTime() {
    FairRule rule = FairRule.of(100, END);
    Tier.Leased tier = new Tier.Leased(TEN, true, 0, 60_000);
    LeaseCell cell = LeaseCell.of(rule.charge(rule.tenant("a", 1), 1), tier, 0);
    grant(cell, 10, 0);
    assertThat(cell.nanosToIdle(0)).isEqualTo(ms(END / 8));
  }

  @Test
  void unitsOfATenantWithFrequentRequestsAreIdleSoon() {
    FairRule rule = FairRule.of(100, END);
    LeaseCell cell =
        LeaseCell.of(rule.charge(rule.tenant("a", 1), 1), new Tier.Leased(TEN, true, 0, 60_000), 0);
    grant(cell, 10, 0);
    for (int i = 1; i <= 40; i++) {
      var _ = kind(cell, rule, i);
    }
    cell.reopen();
    assertThat(GlobalCells.wanted(cell, 1, ms(40))).isPositive();
    cell.complete(10, units(10, END, END - 40, 90), ms(40), ms(40));
    assertThat(cell.takeIdle(ms(40 + END / 8) - 1).units()).isZero();
    assertThat(cell.takeIdle(ms(40 + END / 8)).units()).isEqualTo(10);
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void idleUnitsOfAnEndedWindowAreForfeited(Tier.Leasing tier) {
    LeaseCell cell = cell(tier);
    grant(cell, 10, 0);
    assertThat(cell.takeIdle(ms(END + IDLE)).units()).isZero();
    assertThat(cell.takeForfeited()).isEqualTo(10);
    assertThat(cell.takeForfeited()).isZero();
  }

  @Test
  void idleUnitsOfTheNextWindowAreLookedForOnceItsLeaseHasEnded() {
    GlobalCell cell = GlobalCells.cell(IDLE);
    grant(cell, 1, 0);
    take(cell, 1, 0);
    assertThat(cell.nanosToIdle(0)).isZero();
    assertThat(GlobalCells.wantedNext(cell, 0)).isPositive();
    cell.putBack(1, END);
    assertThat(cell.nanosToIdle(0)).as("a lease of the next window is in flight").isZero();
    cell.tryAcquire(HUNDRED, 1, false, 0);
    cell.completeNext(units(5, 2 * END, 2 * END, 90), 0, 0);
    assertThat(cell.nanosToIdle(0)).isEqualTo(ms(IDLE));
  }

  @Test
  void aCellBelongsToEqualTiers() {
    for (Tier.Leasing tier : tiers()) {
      LeaseCell cell = cell(tier);
      for (int i = 0; i < 2; i++) {
        assertThat(cell.isOf(tiers().get(i))).isEqualTo(tiers().get(i).equals(tier));
      }
      assertThat(cell.isOf(tier)).isTrue();
    }
  }

  @Test
  void aTenantThatIsRefusedAgainRetriesLater() {
    FairRule rule = FairRule.of(100, END);
    for (Tier.Leasing tier : tiers()) {
      LeaseCell cell = LeaseCell.of(rule.charge(rule.tenant("a", 1), 1), tier, 0);
      refuse(cell, 0);
      assertThat(kind(cell, rule, 1_999)).isEqualTo(Kind.REFUSED);
      assertThat(kind(cell, rule, 2_000)).isEqualTo(Kind.SHORT);
      refuse(cell, 2_000);
      assertThat(kind(cell, rule, 4_500)).as("after the second").isEqualTo(Kind.REFUSED);
      cell.reopen();
      assertThat(GlobalCells.wanted(cell, 1, ms(4_500))).isPositive();
      cell.complete(1, units(1, END, 5_500, 90), ms(4_500), ms(4_500));
      assertThat(kind(cell, rule, 4_500)).isEqualTo(Kind.TAKEN);
      refuse(cell, 4_500);
      assertThat(kind(cell, rule, 6_499)).isEqualTo(Kind.REFUSED);
      assertThat(kind(cell, rule, 6_500)).as("the first since a grant").isEqualTo(Kind.SHORT);
    }
  }

  private static Kind kind(LeaseCell cell, FairRule rule, long millis) {
    return cell.tryAcquire(rule.charge(rule.tenant("a", 1), 1), true, ms(millis)).kind();
  }

  /** Completes a lease without units. */
  private static void refuse(LeaseCell cell, long millis) {
    assertThat(GlobalCells.wanted(cell, 1, ms(millis))).isPositive();
    cell.complete(10, units(0, END, END - millis, 0), ms(millis), ms(millis));
  }

  private static LeaseCell cell(Tier.Leasing tier) {
    return LeaseCell.of(Node.charge("user", HUNDRED), tier, 0);
  }

  private static void grant(LeaseCell cell, long units, long now) {
    assertThat(GlobalCells.wanted(cell, 1, now)).isPositive();
    LeaseGrant grant = units(units, END, END, 90);
    assertThat(cell.complete(10, grant, now, now).end()).isEqualTo(End.CREDITED);
  }

  private static void take(LeaseCell cell, long cost, long now) {
    cell.tryAcquire(HUNDRED, cost, true, now);
  }
}
