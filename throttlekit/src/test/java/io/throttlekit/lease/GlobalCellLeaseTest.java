package io.throttlekit.lease;

import static io.throttlekit.lease.GlobalCells.END;
import static io.throttlekit.lease.GlobalCells.lease;
import static io.throttlekit.lease.GlobalCells.leaseBoth;
import static io.throttlekit.lease.GlobalCells.leaseNext;
import static io.throttlekit.lease.GlobalCells.ms;
import static io.throttlekit.lease.GlobalCells.take;
import static io.throttlekit.lease.GlobalCells.units;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Cost;
import io.throttlekit.lease.AcquireResult.Kind;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.lease.sizing.LeaseSizer;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.tier.Node;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests when a cell requests how many units of which window. */
class GlobalCellLeaseTest {
  private static final long CURRENT_UNTIL = ms(9_989);
  private static final long ENDED_BY = ms(10_010);

  private final GlobalCell cell = GlobalCells.cell(0);

  @Test
  void onlyOneLeaseIsInFlight() {
    assertThat(GlobalCells.wanted(cell, 1, 0)).isEqualTo(10);
    assertThat(GlobalCells.wanted(cell, 1, 0)).isZero();
    cell.fail();
    assertThat(GlobalCells.wanted(cell, 1, 0)).isEqualTo(10);
    cell.complete(10, units(10, END, END, 90), 0, 0);
    assertThat(GlobalCells.wanted(cell, 11, 0)).isPositive();
  }

  @Test
  void aCostBeyondTheBatchLeasesTheMissingUnits() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    take(cell, 30, 0);
    assertThat(GlobalCells.wanted(cell, 30, 0)).isEqualTo(20);
  }

  @Test
  void leasesAreBoundedByTheLimitForAnySizer() {
    GlobalCell greedy = GlobalCells.cell(0, 0, new RecordingSizer(1_000));
    assertThat(GlobalCells.wanted(greedy, 1, 0)).isEqualTo(100);
  }

  @Test
  void unservedRequestsAreLeasedTogether() {
    assertThat(take(cell, 5, 0).kind()).isEqualTo(Kind.SHORT);
    assertThat(GlobalCells.wanted(cell, 5, 0)).isEqualTo(10);
    for (int i = 0; i < 5; i++) {
      assertThat(take(cell, 5, 0).kind()).isEqualTo(Kind.SHORT);
    }
    cell.complete(10, units(10, END, END, 90), 0, 0);
    assertThat(take(cell, 10, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(take(cell, 5, 0).kind()).isEqualTo(Kind.SHORT);
    assertThat(GlobalCells.wanted(cell, 5, 0)).as("of 30, 10 were covered").isEqualTo(20);
    cell.complete(20, units(20, END, END, 70), 0, 0);
    assertThat(take(cell, 20, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(take(cell, 5, 0).kind()).isEqualTo(Kind.SHORT);
    assertThat(GlobalCells.wanted(cell, 5, 0)).as("covered").isLessThanOrEqualTo(10);
  }

  @Test
  void requestsRefusedInAnOutageAreNotLeasedAfterwards() {
    for (int i = 0; i < 50; i++) {
      assertThat(take(cell, 1, 0).kind()).isEqualTo(Kind.SHORT);
      assertThat(GlobalCells.wanted(cell, 1, 0)).isPositive();
      cell.fail();
    }
    take(cell, 1, 0);
    assertThat(GlobalCells.wanted(cell, 1, 0)).isEqualTo(10);
  }

  @Test
  void shortfallOfAWindowIsNotLeasedInTheNext() {
    take(cell, 5, 0);
    assertThat(GlobalCells.wanted(cell, 5, 0)).isEqualTo(10);
    take(cell, 60, 0);
    cell.complete(10, units(10, END, END, 90), 0, 0);
    take(cell, 1, ENDED_BY);
    assertThat(GlobalCells.wanted(cell, 1, ENDED_BY)).isEqualTo(10);
  }

  @Test
  void aCostThatNeverFitsIsNoDemand() {
    lease(cell, 1, units(10, END, END, 90), 0, ms(100));
    assertThat(take(cell, 1, ms(200)).kind()).isEqualTo(Kind.TAKEN);
    assertThat(take(cell, Cost.MAX, ms(2_000)).kind()).isEqualTo(Kind.REFUSED);
    assertThat(take(cell, 1, ms(2_000)).kind()).isEqualTo(Kind.TAKEN);
    assertThat(cell.isLow(ms(2_000))).isFalse();
  }

  @Test
  void usableUnitsAreBoundedByTheLimit() {
    FixedWindow most = new FixedWindow(Cost.MAX, END);
    Tier.Global tier = GlobalCells.tier(most, new LeaseSize.Fixed(10), 0, 0);
    GlobalCell huge = new GlobalCell(Node.charge("user", most), tier, new LeaseSize.Fixed(10), 0);
    lease(huge, 1, units(10, END, END, Cost.MAX), 0, 0);
    for (int i = 0; i < 2_000; i++) {
      huge.tryAcquire(most, Cost.MAX, true, i);
    }
    assertThat(GlobalCells.begun(huge, Cost.MAX, ms(1)))
        .isEqualTo(new GlobalCells.StartedLease(Cost.MAX - 10, 10, Cost.MAX, LeaseRequest.CURRENT));
    assertThat(GlobalCells.wantedNext(huge, ms(1))).isEqualTo(10);
  }

  @Test
  void renewsOnceAtLowWater() {
    GlobalCell each = GlobalCells.cell(3, 0, new LeaseSize.Fixed(10));
    lease(each, 1, units(10, END, END, 90), 0, 0);
    assertThat(take(each, 6, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(each.isLow(0)).isFalse();
    assertThat(take(each, 1, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(each.isLow(0)).isTrue();
    assertThat(GlobalCells.wanted(each, 0, 0)).isEqualTo(10);
    assertThat(each.isLow(0)).as("a lease is in flight").isFalse();
  }

  @Test
  void renewsEarlierAfterLongRoundTrips() {
    lease(cell, 1, units(90, END, END, 5), 0, ms(500));
    for (int i = 0; i < 60; i++) {
      assertThat(take(cell, 1, ms(500 + 10 * i)).kind()).isEqualTo(Kind.TAKEN);
    }
    assertThat(cell.isLow(ms(1_100))).as("in a second 100 are wanted").isTrue();
  }

  @Test
  void earlyInAWindowRenewsByThePaceOfThePreviousOne() {
    lease(cell, 1, units(90, END, END, 10), 0, ms(500));
    for (int i = 0; i < 90; i++) {
      assertThat(take(cell, 1, ms(100L * i)).kind()).isEqualTo(Kind.TAKEN);
    }
    leaseNext(cell, 10, 90, ms(9_000));
    assertThat(take(cell, 2, ms(10_600)).windowEndMillis()).isEqualTo(2 * END);
    assertThat(cell.isLow(ms(10_600))).as("8 left, the demand of two trips").isTrue();
  }

  @Test
  void betweenWindowsRenewsTheNextOneAhead() {
    GlobalCell each = GlobalCells.cell(3, 0, new LeaseSize.Fixed(10));
    lease(each, 1, units(90, END, END, 10), 0, 0);
    take(each, 40, 0);
    assertThat(GlobalCells.wantedNext(each, 0)).isEqualTo(10);
    assertThat(each.isLow(CURRENT_UNTIL)).as("it is asked for").isFalse();
    each.completeNext(units(10, 2 * END, 2 * END, 90), 0, 0);
    assertThat(take(each, 6, CURRENT_UNTIL).ofNextToo()).isTrue();
    assertThat(each.isLow(CURRENT_UNTIL)).as("4 are left of the next").isFalse();
    assertThat(take(each, 1, CURRENT_UNTIL).ofNextToo()).isTrue();
    assertThat(each.isLow(CURRENT_UNTIL)).as("3 are").isTrue();
    assertThat(GlobalCells.begun(each, 0, CURRENT_UNTIL))
        .as("a demand of 47, 3 available")
        .isEqualTo(new GlobalCells.StartedLease(10, 10, 44, 2 * END));
  }

  @Test
  void doesNotRenewAheadOfLowDemand() {
    for (int i = 0; i < 10; i++) {
      if (take(cell, 1, ms(1_000L * i)).kind() == Kind.SHORT) {
        lease(cell, 1, units(10, END, END, 90), 0, 0);
        cell.tryAcquire(GlobalCells.HUNDRED, 1, false, 0);
      }
    }
    assertThat(take(cell, 1, ENDED_BY).kind()).isEqualTo(Kind.SHORT);
    lease(cell, 1, units(10, 2 * END, END, 90), ENDED_BY, ENDED_BY);
    assertThat(take(cell, 1, ENDED_BY + ms(1_000)).kind()).isEqualTo(Kind.TAKEN);
    assertThat(GlobalCells.wanted(cell, 0, ENDED_BY + ms(1_000)))
        .as("8 will be, 9 are there")
        .isZero();
  }

  @Test
  void theNextWindowIsCheckedOnceBeforeTheEndOfThisOne() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    long look = cell.nanosToNextLease(0);
    assertThat(look).isBetween(CURRENT_UNTIL - ms(1_000), CURRENT_UNTIL - ms(500));
    assertThat(cell.nanosToNextLease(0)).as("once").isZero();
    assertThat(cell.isNextDue(look - 1)).isFalse();
    assertThat(cell.isNextDue(look)).isTrue();
  }

  @Test
  void theCheckIsEarlierAfterLongRoundTripsButNotBeforeThreeQuarters() {
    lease(cell, 1, units(10, END, END, 90), 0, ms(200));
    assertThat(cell.nanosToNextLease(0))
        .isBetween(CURRENT_UNTIL - ms(1_600), CURRENT_UNTIL - ms(800));
    GlobalCell slow = GlobalCells.cell(0);
    lease(slow, 1, units(10, END, END, 90), 0, ms(2_000));
    assertThat(slow.nanosToNextLease(0)).isEqualTo(CURRENT_UNTIL - ms(2_500));
  }

  @Test
  void afterLeasingTheNextWindowTheOneAfterItIsChecked() {
    leaseBoth(cell, 10, 5);
    assertThat(cell.nanosToNextLease(0))
        .isBetween(CURRENT_UNTIL + ms(9_000), CURRENT_UNTIL + ms(9_500));
    assertThat(cell.nanosToNextLease(0)).isZero();
  }

  @Test
  void theNextWindowIsLeasedOnceAndOnlyUnderDemand() {
    assertThat(GlobalCells.wantedNext(cell, 0)).as("no window is known").isZero();
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    assertThat(GlobalCells.wantedNext(cell, 0)).as("no demand").isZero();
    take(cell, 1, 0);
    take(cell, 1, 0);
    assertThat(GlobalCells.wantedNext(cell, 0)).as("as many as were wanted").isEqualTo(2);
    assertThat(GlobalCells.wantedNext(cell, 0)).as("a lease is in flight").isZero();
    cell.failNext();
    assertThat(GlobalCells.begunNext(cell, 0))
        .isEqualTo(new GlobalCells.StartedLease(2, 2, 2, 2 * END));
    assertThat(cell.completeNext(units(0, 2 * END, 20_000, 0), 0, 0)).isZero();
    assertThat(GlobalCells.wantedNext(cell, 0)).as("answered, even if with 0").isZero();
  }

  @Test
  void theClockOfTheRegionsStoreMovesNoWindowOfTheCoordinator() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    long late = ms(8_000);
    lease(
        cell, 11, units(10, END, 5_000, LeaseGrant.UNKNOWN), late, late); // it was set back by 3 s
    assertThat(take(cell, 1, ENDED_BY).kind())
        .as("they ended with their window")
        .isEqualTo(Kind.SHORT);
    Completed after = lease(cell, 1, units(10, END, 4_000, LeaseGrant.UNKNOWN), ENDED_BY, ENDED_BY);
    assertThat(after.unspendable()).isEqualTo(10);
    Completed ahead =
        lease(cell, 1, units(10, 3 * END, END, LeaseGrant.UNKNOWN), ENDED_BY, ENDED_BY);
    assertThat(ahead.unspendable()).as("of the next window").isZero();
    assertThat(take(cell, 1, ENDED_BY).kind()).as("it has not begun").isEqualTo(Kind.SHORT);
  }

  @Test
  void escrowAnswersKeepTheRoundTripOfTheCoordinator() {
    lease(cell, 1, units(10, END, END - 100, 90), 0, ms(100));
    for (int i = 0; i < 50; i++) {
      lease(cell, 11, units(1, END, 9_000, LeaseGrant.UNKNOWN), ms(1_000), ms(1_000));
    }
    assertThat(cell.toString()).contains("round trip 100000000");
  }

  @Test
  void theLeaseOfTheNextWindowIsAtMostABatch() {
    lease(cell, 1, units(90, END, END, 10), 0, 0);
    take(cell, 80, 0);
    assertThat(GlobalCells.wantedNext(cell, 0)).isEqualTo(10);
  }

  @Test
  void aLeaseOfTheNextWindowThatArrivesInItIsCurrent() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    take(cell, 1, 0);
    assertThat(GlobalCells.wantedNext(cell, ms(9_500))).isPositive();
    LeaseGrant answer = units(5, 2 * END, 10_500, 90);
    assertThat(cell.completeNext(answer, ms(9_500), ENDED_BY + ms(100))).isZero();
    assertThat(take(cell, 5, ENDED_BY + ms(100)).windowEndMillis()).isEqualTo(2 * END);
  }

  @Test
  void aLeaseOfTheNextWindowThatArrivesAfterItIsReturned() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    take(cell, 1, 0);
    assertThat(GlobalCells.wantedNext(cell, ms(9_500))).isPositive();
    LeaseGrant answer = units(5, 2 * END, 10_500, 90);
    assertThat(cell.completeNext(answer, ms(9_500), ms(20_100))).isEqualTo(5);
  }

  @Test
  void ifOnlyTheNextWindowIsShortTheNextIsLeased() {
    lease(cell, 1, units(50, END, END, 50), 0, 0);
    assertThat(take(cell, 5, CURRENT_UNTIL).kind()).isEqualTo(Kind.SHORT);
    assertThat(GlobalCells.begun(cell, 5, CURRENT_UNTIL))
        .as("as many as were wanted")
        .isEqualTo(new GlobalCells.StartedLease(5, 10, 5, 2 * END));
    cell.complete(5, units(5, 2 * END, 10_001, 90), CURRENT_UNTIL, CURRENT_UNTIL);
    assertThat(take(cell, 4, CURRENT_UNTIL).ofNextToo()).isTrue();
    assertThat(take(cell, 5, CURRENT_UNTIL).kind())
        .as("1 is left of the next")
        .isEqualTo(Kind.SHORT);
    GlobalCells.StartedLease again = GlobalCells.begun(cell, 5, CURRENT_UNTIL);
    assertThat(again.units()).isEqualTo(10);
    assertThat(again.windowEndMillis()).isEqualTo(2 * END);
    cell.complete(4, units(4, 2 * END, 10_001, 86), CURRENT_UNTIL, CURRENT_UNTIL);
    assertThat(take(cell, 5, CURRENT_UNTIL).ofNextToo()).isTrue();
  }

  @Test
  void ifTheCurrentWindowIsShortTheCurrentOneIsLeased() {
    lease(cell, 1, units(4, END, END, LeaseGrant.UNKNOWN), 0, 0);
    assertThat(take(cell, 5, CURRENT_UNTIL).kind()).isEqualTo(Kind.SHORT);
    GlobalCells.StartedLease wanted = GlobalCells.begun(cell, 5, CURRENT_UNTIL);
    assertThat(wanted.units()).isPositive();
    assertThat(wanted.windowEndMillis()).isEqualTo(LeaseRequest.CURRENT);
    cell.complete(10, units(10, 2 * END, 9_990, 90), CURRENT_UNTIL, CURRENT_UNTIL + ms(2));
    assertThat(take(cell, 5, CURRENT_UNTIL + ms(2)).ofNextToo()).as("it has begun").isFalse();
  }

  @Test
  void anExhaustedNextWindowIsNotLeasedAgain() {
    lease(cell, 1, units(50, END, END, 50), 0, 0);
    take(cell, 1, 0);
    leaseNext(cell, 0, 0, 0);
    assertThat(GlobalCells.wanted(cell, 5, CURRENT_UNTIL)).isZero();
  }

  @Test
  void demandIsLearnedPerWindowAndCountedOnce() {
    RecordingSizer sizer = new RecordingSizer(10);
    GlobalCell counting = GlobalCells.cell(0, 0, sizer);
    assertThat(take(counting, 3, 0).kind()).isEqualTo(Kind.SHORT);
    assertThat(counting.tryAcquire(GlobalCells.HUNDRED, 3, false, 0).kind()).isEqualTo(Kind.SHORT);
    lease(counting, 3, units(10, END, END, 90), 0, 0);
    assertThat(counting.tryAcquire(GlobalCells.HUNDRED, 3, false, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(counting.tryAcquire(GlobalCells.HUNDRED, 2, true, 0).kind()).isEqualTo(Kind.TAKEN);
    take(counting, 1, ENDED_BY);
    take(counting, 1, ENDED_BY + ms(20_020));
    assertThat(sizer.observed).containsExactly(5L, 1L);
  }

  @Test
  void aTimerOfTheNextWindowCountsFromNow() {
    lease(cell, 1, units(10, END, END - 1_000, 90), ms(1_000), ms(1_000));
    assertThat(cell.nanosToNextLease(ms(2_000)))
        .isBetween(CURRENT_UNTIL - ms(3_000), CURRENT_UNTIL - ms(2_500));
  }

  @Test
  void whatIsDueOfAWindowIsNotDueOfTheOneAfterIt() {
    lease(cell, 1, units(10, END, END, 0), 0, 0);
    take(cell, 2, 0);
    assertThat(cell.isNextDue(ENDED_BY)).isFalse();
    GlobalCell other = GlobalCells.cell(0);
    lease(other, 1, units(10, END, END, 0), 0, 0);
    take(other, 2, 0);
    assertThat(GlobalCells.wantedNext(other, ENDED_BY)).as("no demand in it").isZero();
    GlobalCell exhausted = GlobalCells.cell(0);
    lease(exhausted, 1, units(10, END, END, 0), 0, 0);
    assertThat(GlobalCells.wanted(exhausted, 1, ENDED_BY)).as("a new window").isEqualTo(10);
  }

  @Test
  void anExhaustedNextWindowIsLeasedAgainAfterADataLoss() {
    lease(cell, 1, units(50, END, END, 50), 0, 0);
    take(cell, 1, 0);
    leaseNext(cell, 0, 0, 0);
    assertThat(GlobalCells.wanted(cell, 5, CURRENT_UNTIL)).isZero();
    cell.reopen();
    assertThat(GlobalCells.wanted(cell, 5, CURRENT_UNTIL)).isPositive();
  }

  @Test
  void anExhaustedNextWindowWithEnoughUnitsRefusesNothing() {
    lease(cell, 1, units(4, END, END, LeaseGrant.UNKNOWN), 0, 0);
    take(cell, 1, 0);
    leaseNext(cell, 5, 0, 0);
    assertThat(take(cell, 5, CURRENT_UNTIL).kind()).as("2 of this one lack").isEqualTo(Kind.SHORT);
  }

  @Test
  void unitsOfTheEscrowThatArriveAfterTheirWindowAreNotCredited() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    long late = ms(9_000);
    LeaseGrant grant = units(10, END, 1_000, LeaseGrant.UNKNOWN);
    assertThat(lease(cell, 11, grant, late, ENDED_BY).unspendable()).isEqualTo(10);
  }

  @Test
  void renewsByWhatIsToComeLessWhatIsLeft() {
    GlobalCell each = GlobalCells.cell(3, 0, new LeaseSize.Fixed(10));
    lease(each, 1, units(10, END, END, 90), 0, 0);
    for (int second = 0; second <= 6; second++) {
      assertThat(take(each, 1, ms(1_000L * second)).kind()).isEqualTo(Kind.TAKEN);
    }
    assertThat(GlobalCells.begun(each, 0, ms(6_000)))
        .as("4 are to come, 3 are left")
        .isEqualTo(new GlobalCells.StartedLease(1, 10, 1, LeaseRequest.CURRENT));
  }

  @Test
  void aWindowThatWasSeenInPartIsNoForecast() {
    take(cell, 1, ms(5_000));
    lease(cell, 1, units(10, END, 5_000, 90), ms(5_000), ms(5_000));
    take(cell, 2, ms(5_000));
    assertThat(GlobalCells.begun(cell, 1, ENDED_BY).usable()).isEqualTo(100);
  }

  @Test
  void theSizerReceivesTheDemandWithoutTheRequestThatWaits() {
    RecordingSizer sizer = new RecordingSizer(10);
    GlobalCell counting = GlobalCells.cell(0, 0, sizer);
    take(counting, 20, 0);
    lease(counting, 20, units(20, END, END, 80), 0, 0);
    counting.tryAcquire(GlobalCells.HUNDRED, 20, false, 0);
    take(counting, 5, 0);
    assertThat(GlobalCells.wanted(counting, 5, 0)).isPositive();
    assertThat(sizer.offered).containsExactly(0L, 20L);
    counting.fail();
    assertThat(GlobalCells.wantedNext(counting, 0)).isPositive();
    assertThat(sizer.offered).as("of another window").endsWith(0L);
  }

  /** Always returns one size, and records the demand of the current window and of ended ones. */
  private static final class RecordingSizer implements LeaseSizer {
    private final List<Long> observed = new ArrayList<>();
    private final List<Long> offered = new ArrayList<>();
    private final long size;

    private RecordingSizer(long size) {
      this.size = size;
    }

    @Override
    public long size(long demand, long limit) {
      offered.add(demand);
      return size;
    }

    @Override
    public void observe(long demand, long limit) {
      observed.add(demand);
    }
  }
}
