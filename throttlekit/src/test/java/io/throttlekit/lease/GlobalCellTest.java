package io.throttlekit.lease;

import static io.throttlekit.lease.GlobalCells.END;
import static io.throttlekit.lease.GlobalCells.IDLE;
import static io.throttlekit.lease.GlobalCells.lease;
import static io.throttlekit.lease.GlobalCells.leaseNext;
import static io.throttlekit.lease.GlobalCells.ms;
import static io.throttlekit.lease.GlobalCells.take;
import static io.throttlekit.lease.GlobalCells.units;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.lease.AcquireResult.Kind;
import io.throttlekit.lease.LeaseWaiter.End;
import io.throttlekit.store.LeaseGrant;
import org.junit.jupiter.api.Test;

/** Tests which window's units a cell spends, to the nanosecond and the unit. */
class GlobalCellTest {
  /** The time until which the first window is certainly current, and from which the next one is. */
  private static final long CURRENT_UNTIL = ms(9_989);

  private static final long ENDED_BY = ms(10_010);

  private final GlobalCell cell = GlobalCells.cell(0);

  @Test
  void nothingIsSpentBeforeTheFirstLease() {
    assertThat(take(cell, 1, 0).kind()).isEqualTo(Kind.SHORT);
    assertThat(take(cell, 0, 0).kind()).as("a look").isEqualTo(Kind.SHORT);
    assertThat(cell.tryAcquire(GlobalCells.HUNDRED, 1, true, 0).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void inACertainlyCurrentWindowOnlyItsUnitsAreSpent() {
    leaseBoth(10, 5);
    assertThat(take(cell, 8, CURRENT_UNTIL - 1))
        .isEqualTo(new AcquireResult(cell, Kind.TAKEN, Decision.admit(100, 92, 22), END, false));
    assertThat(cell.retire(CURRENT_UNTIL - 1)).isEqualTo(new Leftover(2, END, 5));
  }

  @Test
  void betweenWindowsUnitsOfBothAreSpent() {
    leaseBoth(10, 5);
    assertThat(take(cell, 3, CURRENT_UNTIL))
        .isEqualTo(new AcquireResult(cell, Kind.TAKEN, Decision.admit(100, 97, 21), END, true));
    assertThat(take(cell, 3, ENDED_BY - 1).kind())
        .as("2 are left of the next")
        .isEqualTo(Kind.SHORT);
    assertThat(take(cell, 2, ENDED_BY - 1).ofNextToo()).isTrue();
    assertThat(take(cell, 1, ENDED_BY - 1).kind()).isEqualTo(Kind.SHORT);
    assertThat(take(cell, 1, ENDED_BY).kind())
        .as("of the next, which is spent")
        .isEqualTo(Kind.SHORT);
    assertThat(cell.takeForfeited()).isEqualTo(5);
  }

  @Test
  void unitsOfTheNextWindowAloneAreNotSpentBeforeItCertainlyBegan() {
    leaseBoth(10, 10);
    assertThat(take(cell, 10, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(take(cell, 1, CURRENT_UNTIL - 1).kind()).isEqualTo(Kind.SHORT);
    assertThat(take(cell, 1, ENDED_BY - 1).kind()).isEqualTo(Kind.SHORT);
    AcquireResult ofNext = take(cell, 1, ENDED_BY);
    assertThat(ofNext.windowEndMillis()).isEqualTo(2 * END);
    assertThat(ofNext.ofNextToo()).isFalse();
  }

  @Test
  void aPeekNeedsAUnitOfEachPossibleWindow() {
    leaseBoth(2, 1);
    assertThat(take(cell, 0, 0).decision()).isEqualTo(Decision.admit(100, 92, 10_010));
    assertThat(take(cell, 1, CURRENT_UNTIL).ofNextToo()).isTrue();
    assertThat(take(cell, 0, CURRENT_UNTIL).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void unspentUnitsExpireWithTheirWindow() {
    lease(cell, 1, units(10, END, 10_000, 90), 0, 0);
    assertThat(take(cell, 1, ENDED_BY).kind()).isEqualTo(Kind.SHORT);
    assertThat(cell.takeForfeited()).isEqualTo(10);
    assertThat(cell.takeForfeited()).as("reported once").isZero();
  }

  @Test
  void unitsOfTheNextWindowExpireWithIt() {
    leaseBoth(10, 5);
    assertThat(take(cell, 1, ENDED_BY + ms(10_010)).kind()).isEqualTo(Kind.SHORT);
    assertThat(cell.takeForfeited()).isEqualTo(15);
    assertThat(cell.retire(ENDED_BY + ms(10_010))).isEqualTo(new Leftover(0, 3 * END));
  }

  @Test
  void aGrantOfAnEndedWindowIsNotCredited() {
    lease(cell, 1, units(10, 2 * END, 10_000, 90), 0, 0);
    Completed late = lease(cell, 11, units(7, END, 10_000, 80), 0, ms(1));
    assertThat(late.end()).isEqualTo(End.LATE);
    assertThat(late.unspendable()).isEqualTo(7);
    assertThat(take(cell, 11, ms(1)).kind()).isEqualTo(Kind.SHORT);
    assertThat(take(cell, 1, ENDED_BY).kind())
        .as("it does not determine when this one ends either")
        .isEqualTo(Kind.SHORT);
  }

  @Test
  void aGrantThatArrivesAfterItsWindowIsNotCredited() {
    lease(cell, 1, units(10, END, 10_000, 90), 0, 0);
    assertThat(GlobalCells.wanted(cell, 11, ms(9_000))).isEqualTo(10);
    Completed late = cell.complete(10, units(10, END, 1_000, 80), ms(9_000), ENDED_BY);
    assertThat(late.end()).isEqualTo(End.LATE);
    assertThat(late.unspendable()).isEqualTo(10);
    assertThat(cell.retire(ENDED_BY)).isEqualTo(new Leftover(0, 2 * END));
  }

  @Test
  void aGrantThatReportsAnEndedWindowIsNotCredited() {
    Completed late = lease(cell, 1, units(10, END, -20, 90), 0, ms(10));
    assertThat(late.end()).isEqualTo(End.LATE);
    assertThat(late.unspendable()).isEqualTo(10);
    assertThat(cell.retire(ms(10))).isEqualTo(new Leftover(0, 2 * END));
  }

  @Test
  void aGrantOfANewerWindowEndsTheCurrentOne() {
    leaseBoth(10, 5);
    Completed newer = lease(cell, 11, units(4, 2 * END, 9_000, 80), ms(5_000), ms(5_001));
    assertThat(newer.end()).isEqualTo(End.CREDITED);
    assertThat(cell.takeForfeited()).isEqualTo(10);
    assertThat(take(cell, 9, ms(5_002)).windowEndMillis()).as("5 and 4").isEqualTo(2 * END);
  }

  @Test
  void aRetiredCellAcceptsAndKeepsNothing() {
    leaseBoth(10, 5);
    assertThat(GlobalCells.wanted(cell, 11, 0)).isPositive();
    assertThat(cell.retire(0)).isEqualTo(new Leftover(10, END, 5));
    Completed answer = cell.complete(10, units(10, END, 10_000, 70), 0, 0);
    assertThat(answer.end()).as("look for another cell").isEqualTo(End.CREDITED);
    assertThat(answer.unspendable()).isEqualTo(10);
    assertThat(cell.completeNext(units(5, 2 * END, 20_000, 70), 0, 0)).isEqualTo(5);
    assertThat(take(cell, 1, 0).kind()).isEqualTo(Kind.RETIRED);
    assertThat(GlobalCells.refund(cell, 1, 0).kind()).isEqualTo(Kind.RETIRED);
    assertThat(cell.putBack(1, END)).isFalse();
    assertThat(GlobalCells.wanted(cell, 1, 0)).isZero();
    assertThat(GlobalCells.wantedNext(cell, 0)).isZero();
    assertThat(cell.nanosToNextLease(0)).isZero();
    assertThat(cell.isLow(0)).isFalse();
    assertThat(cell.retire(0)).isEqualTo(new Leftover(0, END));
  }

  @Test
  void anExhaustedWindowIsNotLeasedAgainUntilItEnds() {
    lease(cell, 10, units(3, END, 10_000, 0), 0, 0);
    assertThat(take(cell, 4, ms(10)).decision()).isEqualTo(Decision.refuse(100, 3, 10_000, 10_000));
    assertThat(take(cell, 3, ms(10)).kind()).isEqualTo(Kind.TAKEN);
    assertThat(take(cell, 0, ENDED_BY - 1).kind()).as("a look").isEqualTo(Kind.REFUSED);
    assertThat(cell.tryAcquire(GlobalCells.HUNDRED, 1, true, ENDED_BY - 1).decision())
        .isEqualTo(Decision.refuse(100, 0, 1, 1));
    assertThat(GlobalCells.wanted(cell, 1, ENDED_BY - 1)).isZero();
    assertThat(cell.isLow(ms(10))).isFalse();
    assertThat(take(cell, 1, ENDED_BY).kind()).isEqualTo(Kind.SHORT);
    assertThat(GlobalCells.wanted(cell, 1, ENDED_BY)).isPositive();
  }

  @Test
  void aPartialGrantWithUnitsLeftIsFollowedByAnotherLease() { // it answered an earlier lease
    lease(cell, 10, units(3, END, 10_000, 5), 0, 0);
    assertThat(take(cell, 4, 0).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void aGrantOfZeroMarksTheWindowAsExhausted() {
    lease(cell, 10, units(0, END, 10_000, 5), 0, 0);
    assertThat(take(cell, 4, 0).kind()).isEqualTo(Kind.REFUSED);
  }

  @Test
  void anUnknownRestIsFollowedByAnotherLease() {
    lease(cell, 10, units(3, END, 10_000, LeaseGrant.UNKNOWN), 0, 0);
    assertThat(take(cell, 4, 0).kind()).isEqualTo(Kind.SHORT);
    assertThat(take(cell, 1, 0).decision()).isEqualTo(Decision.admit(100, 2, 10_010));
  }

  @Test
  void anExhaustedWindowIsRetriedAfterTheIdleTimeout() {
    GlobalCell each = GlobalCells.cell(IDLE);
    lease(each, 1, units(0, END, 10_000, 0), 0, ms(100));
    assertThat(take(each, 1, ms(100 + IDLE) - 1).kind()).isEqualTo(Kind.REFUSED);
    assertThat(take(each, 1, ms(100 + IDLE)).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void anExhaustedWindowIsLeasedAgainAfterADataLoss() {
    lease(cell, 1, units(0, END, 10_000, 0), 0, 0);
    assertThat(take(cell, 1, 0).kind()).isEqualTo(Kind.REFUSED);
    cell.reopen();
    assertThat(take(cell, 1, 0).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void anExhaustedNextWindowRefusesFromItsEarliestStart() {
    lease(cell, 1, units(10, END, 10_000, 90), 0, 0);
    assertThat(take(cell, 1, 0).kind()).isEqualTo(Kind.TAKEN);
    leaseNext(cell, 0, 0, 0);
    assertThat(take(cell, 1, CURRENT_UNTIL - 1).kind()).isEqualTo(Kind.TAKEN);
    assertThat(take(cell, 1, CURRENT_UNTIL).decision())
        .as("until the current window has ended")
        .isEqualTo(Decision.refuse(100, 8, 21, 10_021));
    assertThat(take(cell, 1, ENDED_BY).kind()).isEqualTo(Kind.REFUSED);
    cell.reopen();
    assertThat(take(cell, 1, ENDED_BY).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void anExhaustedWindowDoesNotAffectLaterOnes() {
    lease(cell, 1, units(0, END, 10_000, 0), 0, 0);
    assertThat(take(cell, 1, ENDED_BY).kind()).isEqualTo(Kind.SHORT);
    lease(cell, 1, units(10, 2 * END, 10_000, 90), ENDED_BY, ENDED_BY);
    assertThat(take(cell, 1, ms(19_999)).kind()).as("of the third, too").isEqualTo(Kind.SHORT);
  }

  @Test
  void aCostBeyondTheLimitNeverFits() {
    assertThat(take(cell, 101, 0).decision()).isEqualTo(Decision.refuse(100, 0, 1, Decision.NEVER));
    lease(cell, 1, units(10, END, 10_000, 90), 0, 0);
    assertThat(take(cell, 101, ms(10)).decision())
        .isEqualTo(Decision.refuse(100, 10, 10_000, Decision.NEVER));
  }

  @Test
  void refundsAreBoundedBySpentUnits() {
    leaseBoth(10, 5);
    assertThat(take(cell, 6, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(GlobalCells.refund(cell, 4, 0).decision())
        .isEqualTo(Decision.admit(100, 98, 10_010));
    assertThat(GlobalCells.refund(cell, 100, 0).decision())
        .isEqualTo(Decision.admit(100, 100, 10_010));
    assertThat(GlobalCells.refund(cell, 100, 0).decision())
        .isEqualTo(Decision.admit(100, 100, 10_010));
    assertThat(cell.retire(0)).isEqualTo(new Leftover(10, END, 5));
  }

  @Test
  void spentUnitsAreNotRefundedToTheNextWindow() {
    leaseBoth(10, 5);
    assertThat(take(cell, 10, 0).kind()).isEqualTo(Kind.TAKEN);
    GlobalCells.refund(cell, 10, ENDED_BY);
    assertThat(cell.retire(ENDED_BY)).isEqualTo(new Leftover(5, 2 * END));
  }

  @Test
  void unitsPutBackAreNoLongerSpent() {
    leaseBoth(10, 5);
    assertThat(take(cell, 4, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(cell.putBack(4, END)).isTrue();
    GlobalCells.refund(cell, 4, 0);
    assertThat(cell.retire(0)).isEqualTo(new Leftover(10, END, 5));
  }

  @Test
  void unitsPutBackBelongToTheirWindow() {
    leaseBoth(10, 5);
    assertThat(take(cell, 2, CURRENT_UNTIL).ofNextToo()).isTrue();
    assertThat(cell.putBack(2, END)).isTrue();
    assertThat(cell.putBack(2, 2 * END)).isTrue();
    assertThat(cell.putBack(2, 3 * END)).as("of a window that was never leased").isFalse();
    assertThat(cell.retire(CURRENT_UNTIL)).isEqualTo(new Leftover(10, END, 5));
  }

  @Test
  void unitsPutBackAfterTheirWindowAreForfeited() {
    leaseBoth(10, 5);
    assertThat(take(cell, 2, CURRENT_UNTIL).ofNextToo()).isTrue();
    assertThat(take(cell, 1, ENDED_BY).kind()).isEqualTo(Kind.TAKEN);
    assertThat(cell.takeForfeited()).isEqualTo(8);
    assertThat(cell.putBack(2, END)).isTrue();
    assertThat(cell.takeForfeited()).isEqualTo(2);
    assertThat(cell.putBack(2, 2 * END)).isTrue();
    assertThat(cell.retire(ENDED_BY)).isEqualTo(new Leftover(4, 2 * END));
  }

  @Test
  void idleUnitsOfBothWindowsAreReturnedAndNotSpent() {
    GlobalCell each = GlobalCells.cell(IDLE);
    lease(each, 1, units(10, END, 10_000, 90), 0, 0);
    assertThat(take(each, 1, 0).kind()).isEqualTo(Kind.TAKEN);
    leaseNext(each, 5, 90, 0);
    assertThat(each.takeIdle(ms(IDLE) - 1)).isEqualTo(Leftover.NONE);
    assertThat(each.takeIdle(ms(IDLE))).isEqualTo(new Leftover(9, END, 5));
    assertThat(take(each, 1, ms(IDLE)).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void theNextWindowOfAnIdleCellIsNotLeasedAhead() {
    GlobalCell each = GlobalCells.cell(IDLE);
    lease(each, 1, units(10, END, 10_000, 90), 0, 0);
    assertThat(take(each, 1, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(GlobalCells.wantedNext(each, ms(IDLE))).isZero();
    assertThat(take(each, 1, ms(IDLE)).kind()).isEqualTo(Kind.TAKEN);
    assertThat(GlobalCells.wantedNext(each, ms(2 * IDLE) - 1)).isPositive();
  }

  @Test
  void idleUnitsAreKeptDuringALease() {
    GlobalCell each = GlobalCells.cell(IDLE);
    lease(each, 1, units(10, END, 10_000, 90), 0, 0);
    assertThat(take(each, 1, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(GlobalCells.wanted(each, 10, 0)).isPositive();
    assertThat(each.takeIdle(ms(IDLE)).units()).isZero();
    each.fail();
    assertThat(GlobalCells.wantedNext(each, 0)).isPositive();
    assertThat(each.takeIdle(ms(IDLE)).units()).isZero();
    each.failNext();
    assertThat(each.takeIdle(ms(IDLE)).units()).isEqualTo(9);
  }

  /** Leases units of the first window and of the next; 90 of each are left for others. */
  private void leaseBoth(long current, long next) {
    GlobalCells.leaseBoth(cell, current, next);
  }
}
