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
  private static final long LASTS = ms(9_989);
  private static final long OVER = ms(10_010);

  private final GlobalCell cell = GlobalCells.cell(0);

  @Test
  void oneLeaseIsAskedForAtATime() {
    assertThat(GlobalCells.wanted(cell, 1, 0)).isEqualTo(10);
    assertThat(GlobalCells.wanted(cell, 1, 0)).isZero();
    cell.fail();
    assertThat(GlobalCells.wanted(cell, 1, 0)).isEqualTo(10);
    cell.complete(10, units(10, END, END, 90), 0, 0);
    assertThat(GlobalCells.wanted(cell, 11, 0)).isPositive();
  }

  @Test
  void aCostBeyondTheBatchAsksForWhatItLacks() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    take(cell, 30, 0);
    assertThat(GlobalCells.wanted(cell, 30, 0)).isEqualTo(20);
  }

  @Test
  void nobodyAsksForMoreThanTheLimitWhateverASizerSays() {
    GlobalCell greedy = GlobalCells.cell(0, 0, new Asked(1_000));
    assertThat(GlobalCells.wanted(greedy, 1, 0)).isEqualTo(100);
  }

  @Test
  void allThatCouldNotBeServedIsAskedForTogether() {
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
  void whoWasRefusedInAnOutageIsNotAskedForAfterIt() {
    for (int i = 0; i < 50; i++) {
      assertThat(take(cell, 1, 0).kind()).isEqualTo(Kind.SHORT);
      assertThat(GlobalCells.wanted(cell, 1, 0)).isPositive();
      cell.fail();
    }
    take(cell, 1, 0);
    assertThat(GlobalCells.wanted(cell, 1, 0)).isEqualTo(10);
  }

  @Test
  void whatWasLackingInAWindowIsNotAskedForInTheNext() {
    take(cell, 5, 0);
    assertThat(GlobalCells.wanted(cell, 5, 0)).isEqualTo(10);
    take(cell, 60, 0);
    cell.complete(10, units(10, END, END, 90), 0, 0);
    take(cell, 1, OVER);
    assertThat(GlobalCells.wanted(cell, 1, OVER)).isEqualTo(10);
  }

  @Test
  void whatNoWaitingMakesFitIsNoDemand() {
    lease(cell, 1, units(10, END, END, 90), 0, ms(100));
    assertThat(take(cell, 1, ms(200)).kind()).isEqualTo(Kind.TAKEN);
    assertThat(take(cell, Cost.MAX, ms(2_000)).kind()).isEqualTo(Kind.REFUSED);
    assertThat(take(cell, 1, ms(2_000)).kind()).isEqualTo(Kind.TAKEN);
    assertThat(cell.isLow(ms(2_000))).isFalse();
  }

  @Test
  void ofHugeDemandThereIsUseForTheLimitAndNoMore() {
    FixedWindow most = new FixedWindow(Cost.MAX, END);
    Tier.Global tier = GlobalCells.tier(most, new LeaseSize.Fixed(10), 0, 0);
    GlobalCell huge = new GlobalCell(Node.key("user"), most, tier, new LeaseSize.Fixed(10), 0);
    lease(huge, 1, units(10, END, END, Cost.MAX), 0, 0);
    for (int i = 0; i < 2_000; i++) {
      huge.tryAcquire(most, Cost.MAX, true, i);
    }
    assertThat(GlobalCells.begun(huge, Cost.MAX, ms(1)))
        .isEqualTo(new GlobalCells.Wanted(Cost.MAX - 10, 10, Cost.MAX, LeaseRequest.CURRENT));
    assertThat(GlobalCells.wantedNext(huge, ms(1))).isEqualTo(10);
  }

  @Test
  void whenFewAreLeftItAsksAheadOfNeedOnce() {
    GlobalCell each = GlobalCells.cell(3, 0, new LeaseSize.Fixed(10));
    lease(each, 1, units(10, END, END, 90), 0, 0);
    assertThat(take(each, 6, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(each.isLow(0)).isFalse();
    assertThat(take(each, 1, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(each.isLow(0)).isTrue();
    assertThat(GlobalCells.wanted(each, 0, 0)).isEqualTo(10);
    assertThat(each.isLow(0)).as("asked for").isFalse();
  }

  @Test
  void whereAnswersTakeLongItAsksEarlier() {
    lease(cell, 1, units(90, END, END, 5), 0, ms(500));
    for (int i = 0; i < 60; i++) {
      assertThat(take(cell, 1, ms(500 + 10 * i)).kind()).isEqualTo(Kind.TAKEN);
    }
    assertThat(cell.isLow(ms(1_100))).as("in a second 100 are wanted").isTrue();
  }

  @Test
  void earlyInAWindowItAsksAsEarlyAsThePaceOfTheOneBeforeTells() {
    lease(cell, 1, units(90, END, END, 10), 0, ms(500));
    for (int i = 0; i < 90; i++) {
      assertThat(take(cell, 1, ms(100L * i)).kind()).isEqualTo(Kind.TAKEN);
    }
    leaseNext(cell, 10, 90, ms(9_000));
    assertThat(take(cell, 2, ms(10_600)).windowEndMillis()).isEqualTo(2 * END);
    assertThat(cell.isLow(ms(10_600))).as("8 are left, and wanted in two trips").isTrue();
  }

  @Test
  void whereItMayBeEitherTheNextIsLeasedAheadOfNeedToo() {
    GlobalCell each = GlobalCells.cell(3, 0, new LeaseSize.Fixed(10));
    lease(each, 1, units(90, END, END, 10), 0, 0);
    take(each, 40, 0);
    assertThat(GlobalCells.wantedNext(each, 0)).isEqualTo(10);
    assertThat(each.isLow(LASTS)).as("it is asked for").isFalse();
    each.completeNext(units(10, 2 * END, 2 * END, 90), 0, 0);
    assertThat(take(each, 6, LASTS).ofNextToo()).isTrue();
    assertThat(each.isLow(LASTS)).as("4 are left of the next").isFalse();
    assertThat(take(each, 1, LASTS).ofNextToo()).isTrue();
    assertThat(each.isLow(LASTS)).as("3 are").isTrue();
    assertThat(GlobalCells.begun(each, 0, LASTS))
        .as("47 were wanted, 3 are there")
        .isEqualTo(new GlobalCells.Wanted(10, 10, 44, 2 * END));
  }

  @Test
  void whatWillNotBeWantedIsNotAskedForAhead() {
    for (int i = 0; i < 10; i++) {
      if (take(cell, 1, ms(1_000L * i)).kind() == Kind.SHORT) {
        lease(cell, 1, units(10, END, END, 90), 0, 0);
        cell.tryAcquire(GlobalCells.HUNDRED, 1, false, 0);
      }
    }
    assertThat(take(cell, 1, OVER).kind()).isEqualTo(Kind.SHORT);
    lease(cell, 1, units(10, 2 * END, END, 90), OVER, OVER);
    assertThat(take(cell, 1, OVER + ms(1_000)).kind()).isEqualTo(Kind.TAKEN);
    assertThat(GlobalCells.wanted(cell, 0, OVER + ms(1_000))).as("8 will be, 9 are there").isZero();
  }

  @Test
  void theNextWindowIsLookedAtOnceBeforeTheEndOfThisOne() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    long look = cell.nanosToNextLease(0);
    assertThat(look).isBetween(LASTS - ms(1_000), LASTS - ms(500));
    assertThat(cell.nanosToNextLease(0)).as("once").isZero();
    assertThat(cell.isNextDue(look - 1)).isFalse();
    assertThat(cell.isNextDue(look)).isTrue();
  }

  @Test
  void whereAnswersTakeLongItIsLookedAtEarlierButNotBeforeThreeQuarters() {
    lease(cell, 1, units(10, END, END, 90), 0, ms(200));
    assertThat(cell.nanosToNextLease(0)).isBetween(LASTS - ms(1_600), LASTS - ms(800));
    GlobalCell slow = GlobalCells.cell(0);
    lease(slow, 1, units(10, END, END, 90), 0, ms(2_000));
    assertThat(slow.nanosToNextLease(0)).isEqualTo(LASTS - ms(2_500));
  }

  @Test
  void whereTheNextIsLeasedTheOneAfterItIsLookedAt() {
    leaseBoth(cell, 10, 5);
    assertThat(cell.nanosToNextLease(0)).isBetween(LASTS + ms(9_000), LASTS + ms(9_500));
    assertThat(cell.nanosToNextLease(0)).isZero();
  }

  @Test
  void theNextWindowIsLeasedOnceAndOnlyWhereSomebodyAskedInThisOne() {
    assertThat(GlobalCells.wantedNext(cell, 0)).as("nothing is known").isZero();
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    assertThat(GlobalCells.wantedNext(cell, 0)).as("nobody asked").isZero();
    take(cell, 1, 0);
    take(cell, 1, 0);
    assertThat(GlobalCells.wantedNext(cell, 0)).as("as many as were wanted").isEqualTo(2);
    assertThat(GlobalCells.wantedNext(cell, 0)).as("asked for").isZero();
    cell.failNext();
    assertThat(GlobalCells.begunNext(cell, 0)).isEqualTo(new GlobalCells.Wanted(2, 2, 2, 2 * END));
    assertThat(cell.completeNext(units(0, 2 * END, 20_000, 0), 0, 0)).isZero();
    assertThat(GlobalCells.wantedNext(cell, 0)).as("answered, were it with nothing").isZero();
  }

  @Test
  void theClockOfTheRegionsStoreMovesNoWindowOfTheCoordinator() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    long late = ms(8_000);
    lease(
        cell, 11, units(10, END, 5_000, LeaseGrant.UNKNOWN), late, late); // it was set back by 3 s
    assertThat(take(cell, 1, OVER).kind()).as("they ended with their window").isEqualTo(Kind.SHORT);
    Completed after = lease(cell, 1, units(10, END, 4_000, LeaseGrant.UNKNOWN), OVER, OVER);
    assertThat(after.unspendable()).isEqualTo(10);
    Completed ahead = lease(cell, 1, units(10, 3 * END, END, LeaseGrant.UNKNOWN), OVER, OVER);
    assertThat(ahead.unspendable()).as("of the next window").isZero();
    assertThat(take(cell, 1, OVER).kind()).as("it has not begun").isEqualTo(Kind.SHORT);
  }

  @Test
  void howFarAwayTheCoordinatorIsIsNotForgottenByAnswersOfTheRegionsStore() {
    lease(cell, 1, units(10, END, END - 100, 90), 0, ms(100));
    for (int i = 0; i < 50; i++) {
      lease(cell, 11, units(1, END, 9_000, LeaseGrant.UNKNOWN), ms(1_000), ms(1_000));
    }
    assertThat(cell.toString()).contains("round trip 100000000");
  }

  @Test
  void theNextWindowsLeaseIsNoLargerThanABatch() {
    lease(cell, 1, units(90, END, END, 10), 0, 0);
    take(cell, 80, 0);
    assertThat(GlobalCells.wantedNext(cell, 0)).isEqualTo(10);
  }

  @Test
  void aLeaseOfTheNextThatComesInThatWindowIsOfTheOneThatLasts() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    take(cell, 1, 0);
    assertThat(GlobalCells.wantedNext(cell, ms(9_500))).isPositive();
    LeaseGrant answer = units(5, 2 * END, 10_500, 90);
    assertThat(cell.completeNext(answer, ms(9_500), OVER + ms(100))).isZero();
    assertThat(take(cell, 5, OVER + ms(100)).windowEndMillis()).isEqualTo(2 * END);
  }

  @Test
  void aLeaseOfTheNextThatComesAfterThatWindowGoesBack() {
    lease(cell, 1, units(10, END, END, 90), 0, 0);
    take(cell, 1, 0);
    assertThat(GlobalCells.wantedNext(cell, ms(9_500))).isPositive();
    LeaseGrant answer = units(5, 2 * END, 10_500, 90);
    assertThat(cell.completeNext(answer, ms(9_500), ms(20_100))).isEqualTo(5);
  }

  @Test
  void whereOnlyTheNextWindowLacksUnitsItIsTheNextThatIsLeased() {
    lease(cell, 1, units(50, END, END, 50), 0, 0);
    assertThat(take(cell, 5, LASTS).kind()).isEqualTo(Kind.SHORT);
    assertThat(GlobalCells.begun(cell, 5, LASTS))
        .as("as many as were wanted")
        .isEqualTo(new GlobalCells.Wanted(5, 10, 5, 2 * END));
    cell.complete(5, units(5, 2 * END, 10_001, 90), LASTS, LASTS);
    assertThat(take(cell, 4, LASTS).ofNextToo()).isTrue();
    assertThat(take(cell, 5, LASTS).kind()).as("1 is left of the next").isEqualTo(Kind.SHORT);
    GlobalCells.Wanted again = GlobalCells.begun(cell, 5, LASTS);
    assertThat(again.units()).isEqualTo(10);
    assertThat(again.windowEndMillis()).isEqualTo(2 * END);
    cell.complete(4, units(4, 2 * END, 10_001, 86), LASTS, LASTS);
    assertThat(take(cell, 5, LASTS).ofNextToo()).isTrue();
  }

  @Test
  void whereThisWindowLacksUnitsTheOneThatLastsIsLeased() {
    lease(cell, 1, units(4, END, END, LeaseGrant.UNKNOWN), 0, 0);
    assertThat(take(cell, 5, LASTS).kind()).isEqualTo(Kind.SHORT);
    GlobalCells.Wanted wanted = GlobalCells.begun(cell, 5, LASTS);
    assertThat(wanted.units()).isPositive();
    assertThat(wanted.windowEndMillis()).isEqualTo(LeaseRequest.CURRENT);
    cell.complete(10, units(10, 2 * END, 9_990, 90), LASTS, LASTS + ms(2));
    assertThat(take(cell, 5, LASTS + ms(2)).ofNextToo()).as("it has begun").isFalse();
  }

  @Test
  void whatTheNextWindowHasUsedUpIsNotAskedForAgain() {
    lease(cell, 1, units(50, END, END, 50), 0, 0);
    take(cell, 1, 0);
    leaseNext(cell, 0, 0, 0);
    assertThat(GlobalCells.wanted(cell, 5, LASTS)).isZero();
  }

  @Test
  void demandIsLearnedFromWindowByWindowAndCountedOnce() {
    Asked sizer = new Asked(10);
    GlobalCell counting = GlobalCells.cell(0, 0, sizer);
    assertThat(take(counting, 3, 0).kind()).isEqualTo(Kind.SHORT);
    assertThat(counting.tryAcquire(GlobalCells.HUNDRED, 3, false, 0).kind()).isEqualTo(Kind.SHORT);
    lease(counting, 3, units(10, END, END, 90), 0, 0);
    assertThat(counting.tryAcquire(GlobalCells.HUNDRED, 3, false, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(counting.tryAcquire(GlobalCells.HUNDRED, 2, true, 0).kind()).isEqualTo(Kind.TAKEN);
    take(counting, 1, OVER);
    take(counting, 1, OVER + ms(20_020));
    assertThat(sizer.observed).containsExactly(5L, 1L);
  }

  /** Always returns one size, and records the observed demand. */
  private static final class Asked implements LeaseSizer {
    private final List<Long> observed = new ArrayList<>();
    private final long size;

    private Asked(long size) {
      this.size = size;
    }

    @Override
    public long size(long offered, long limit) {
      return size;
    }

    @Override
    public void observe(long demand, long limit) {
      observed.add(demand);
    }
  }
}
