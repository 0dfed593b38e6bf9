package io.throttlekit.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.lease.AcquireResult.Kind;
import io.throttlekit.lease.LeaseWaiter.End;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.lease.sizing.LeaseSizer;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.tier.Node;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the times and counts of one cell, to the nanosecond and the unit. */
class StoreCellTest {
  private static final long END = 10_000;
  private static final long IDLE = 2_000;

  private final FixedWindow hundred = new FixedWindow(100, 10_000);
  private final StoreCell cell = cell(true, new LeaseSize.Fixed(10));

  @Test
  void creditsExpireBeforeTheWindowByRoundingAndClockRates() {
    lease(cell, new LeaseGrant(10, END, 0, 90), 0, 0);
    assertThat(take(cell, 1, ms(9_989) - 1).kind()).isEqualTo(Kind.TAKEN);
    assertThat(take(cell, 1, ms(9_989)).kind()).isEqualTo(Kind.STRICT);
  }

  @Test
  void ofSeveralGrantsTheTightestBoundsApply() {
    LeaseGrant slow = new LeaseGrant(10, END, 90, 90); // valid until 9,899 ms, over at 10,010
    LeaseGrant quick = new LeaseGrant(10, END, 205, 80); // valid until 9,984 ms, over at 10,005
    for (List<LeaseGrant> order : List.of(List.of(slow, quick), List.of(quick, slow))) {
      StoreCell each = cell(true, new LeaseSize.Fixed(10));
      for (LeaseGrant grant : order) {
        lease(
            each, grant, grant.equals(slow) ? 0 : ms(200), grant.equals(slow) ? ms(100) : ms(210));
      }
      assertThat(take(each, 1, ms(9_950)).kind()).isEqualTo(Kind.TAKEN);
      assertThat(take(each, 1, ms(10_005) - 1).kind()).isEqualTo(Kind.STRICT);
      assertThat(take(each, 1, ms(10_005)).kind()).isEqualTo(Kind.SHORT);
    }
  }

  @Test
  void afterAFailoverToASlowerClockItsWindowApplies() {
    lease(cell, new LeaseGrant(10, 2 * END, END, 90), 0, 0);
    Completed older = lease(cell, new LeaseGrant(10, END, 4_000, 90), ms(100), ms(100));
    assertThat(older.end()).isEqualTo(End.CREDITED);
    assertThat(cell.takeForfeited()).as("of the abandoned window").isEqualTo(10);
    assertThat(take(cell, 10, ms(101)).windowEndMillis()).isEqualTo(END);
    assertThat(take(cell, 1, ms(6_100)).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void aDecisionReportsWhatIsLeftHereAndAtTheStoreUntilTheWindowEnds() {
    lease(cell, new LeaseGrant(10, END, 0, 50), 0, 0);
    assertThat(take(cell, 1, ms(2_500)).decision()).isEqualTo(Decision.admit(100, 59, 7_500));
    assertThat(take(cell, 101, ms(2_500)).decision())
        .isEqualTo(Decision.refuse(100, 9, 7_500, Decision.NEVER));
  }

  @Test
  void aCostOfTheWholeLimitIsLeasedOrWaitsForTheWindow() {
    assertThat(take(cell, 100, 0).kind()).isEqualTo(Kind.SHORT);
    lease(cell, new LeaseGrant(0, END, 0, 0), 0, 0);
    assertThat(take(cell, 100, 0).decision()).isEqualTo(Decision.refuse(100, 0, END, END));
  }

  @Test
  void unitsThatArriveWhenTheyExpireAreNotCredited() {
    LeaseGrant grant = new LeaseGrant(10, END, 0, 90); // valid until 9,989 ms
    assertThat(lease(cell, grant, 0, ms(9_989)).unspendable()).isEqualTo(10);
    StoreCell other = cell(true, new LeaseSize.Fixed(10));
    assertThat(lease(other, grant, 0, ms(9_989) - 1).unspendable()).isZero();
  }

  @Test
  void withoutALowWaterMarkNothingIsLeasedAheadOfNeed() {
    StoreCell steady = cell(new Tier.Leased(new LeaseSize.Fixed(10), true, 0, 0));
    lease(steady, new LeaseGrant(10, END, 0, 90), 0, 0);
    assertThat(take(steady, 10, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(steady.isLow(0)).isFalse();
    assertThat(GlobalCells.wanted(steady, 0, 0)).isZero();
  }

  @Test
  void unitsAreIdleAfterTheLastRequest() {
    lease(cell, new LeaseGrant(10, END, 0, 90), 0, 0);
    take(cell, 1, ms(1_000));
    assertThat(cell.takeIdle(ms(IDLE)).units()).isZero();
    assertThat(cell.takeIdle(ms(IDLE + 1_000)).units()).isEqualTo(9);
  }

  @ParameterizedTest(name = "coupled {0}")
  @ValueSource(booleans = {true, false})
  void unitsOfAnotherWindowAreNotPutBack(boolean coupled) {
    StoreCell each = cell(coupled, new LeaseSize.Fixed(10));
    lease(each, new LeaseGrant(10, END, 0, 90), 0, 0);
    AcquireResult taken = take(each, 10, 0);
    assertThat(each.putBack(10, taken.windowEndMillis())).isTrue();
    assertThat(take(each, 10, 0).kind()).isEqualTo(Kind.TAKEN);
    lease(each, new LeaseGrant(10, 2 * END, END, 90), ms(END), ms(END));
    assertThat(each.putBack(10, taken.windowEndMillis())).isFalse();
    assertThat(take(each, 11, ms(END)).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void aRetiredCellAcceptsLeasesAndKeepsNothing() {
    lease(cell, new LeaseGrant(10, END, 0, 90), 0, 0);
    AcquireResult taken = take(cell, 1, 0);
    assertThat(cell.retire(0)).isEqualTo(new Leftover(9, END));
    assertThat(cell.putBack(1, taken.windowEndMillis())).isFalse();
    assertThat(take(cell, 1, 0).kind()).isEqualTo(Kind.RETIRED);
    assertThat(cell.tryAcquire(hundred, 1, true, 0).decision()).isNull();
    assertThat(GlobalCells.wanted(cell, 1, 0)).isZero();
    assertThat(cell.retire(0).units()).isZero();
  }

  @Test
  void returnedIdleUnitsCannotBeSpent() {
    lease(cell, new LeaseGrant(10, END, 0, 90), 0, 0);
    assertThat(take(cell, 1, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(cell.takeIdle(ms(IDLE) - 1).units()).isZero();
    assertThat(cell.takeIdle(ms(IDLE))).isEqualTo(new Leftover(9, END));
    assertThat(take(cell, 1, ms(IDLE)).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void idleUnitsAreKeptDuringALease() {
    lease(cell, new LeaseGrant(10, END, 0, 90), 0, 0);
    assertThat(take(cell, 11, 0).kind()).isEqualTo(Kind.SHORT);
    assertThat(GlobalCells.wanted(cell, 11, 0)).isEqualTo(10);
    assertThat(cell.takeIdle(ms(IDLE)).units()).isZero();
  }

  @Test
  void anExhaustedWindowIsNotLeasedAgainUntilItEnds() {
    StoreCell steady = cell(new Tier.Leased(new LeaseSize.Fixed(10), true, 0, 0));
    lease(steady, new LeaseGrant(10, END, 0, 0), 0, 0);
    assertThat(take(steady, 10, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(take(steady, 1, ms(END) - 1).decision()).isEqualTo(Decision.refuse(100, 0, 1, 1));
    assertThat(GlobalCells.wanted(steady, 1, ms(END) - 1)).isZero();
    assertThat(take(steady, 1, ms(END)).kind()).isEqualTo(Kind.SHORT);
    assertThat(GlobalCells.wanted(steady, 1, ms(END))).isEqualTo(10);
  }

  @Test
  void anExhaustedWindowIsRetriedAfterTheIdleTimeout() {
    lease(cell, new LeaseGrant(0, END, 0, 0), 0, 0);
    assertThat(take(cell, 1, ms(IDLE) - 1).kind()).isEqualTo(Kind.REFUSED);
    assertThat(take(cell, 1, ms(IDLE)).kind()).isEqualTo(Kind.SHORT);
  }

  @Test
  void aGrantOfZeroWithUnitsLeftIsNotRetriedForever() {
    lease(cell, new LeaseGrant(0, END, 0, 5), 0, 0);
    assertThat(take(cell, 1, 0).kind()).isEqualTo(Kind.REFUSED);
  }

  @Test
  void noMoreThanABatchLessOneIsCarriedOver() {
    StoreCell carrying = cell(false, new LeaseSize.Fixed(10));
    lease(carrying, new LeaseGrant(10, END, 0, 90), 0, 0); // the waiting request has timed out
    assertThat(take(carrying, 10, ms(END)).kind()).isEqualTo(Kind.SHORT);
    assertThat(take(carrying, 9, ms(END)).kind()).isEqualTo(Kind.TAKEN);
    assertThat(carrying.takeForfeited()).isEqualTo(1);
  }

  @Test
  void surplusOfALargeLeaseIsCarriedOverLikeABatch() {
    StoreCell carrying = cell(false, new LeaseSize.Fixed(10));
    assertThat(GlobalCells.wanted(carrying, 30, 0)).isEqualTo(30);
    carrying.complete(
        30, new LeaseGrant(30, END, 0, 70), 0, 0); // the waiting request has timed out
    assertThat(carrying.retire(ms(END)).units()).isEqualTo(9);
  }

  @Test
  void aLateGrantIsForfeitedEvenWithCarryOver() {
    StoreCell carrying = cell(false, new LeaseSize.Fixed(10));
    lease(carrying, new LeaseGrant(5, END, 0, 90), 0, 0);
    assertThat(take(carrying, 5, ms(END)).kind()).as("carried over").isEqualTo(Kind.TAKEN);
    Completed late =
        lease(carrying, new LeaseGrant(10, END, 9_000, 80), ms(9_000), ms(END) + ms(1_000));
    assertThat(late.end()).isEqualTo(LeaseWaiter.End.LATE);
    assertThat(late.unspendable()).isEqualTo(10);
    assertThat(carrying.retire(ms(11_000)).units()).isZero();
  }

  @Test
  void aLeaseIsRenewedAheadOfNeedOnceAndOnlyWhileItsWindowLasts() {
    StoreCell carrying = cell(false, new LeaseSize.Fixed(10));
    lease(carrying, new LeaseGrant(4, END, 0, 90), 0, 0);
    assertThat(carrying.isLow(0)).as("exhausted").isFalse();
    lease(carrying, new LeaseGrant(10, END, 0, 90), 0, 0);
    assertThat(carrying.isLow(0)).as("14 are left").isFalse();
    assertThat(take(carrying, 11, 0).kind()).isEqualTo(Kind.TAKEN);
    assertThat(carrying.isLow(0)).isTrue();
    assertThat(carrying.isLow(ms(END))).as("the units carried over").isFalse();
    assertThat(GlobalCells.wanted(carrying, 0, 0)).isEqualTo(10);
    assertThat(carrying.isLow(0)).as("renewed").isFalse();
  }

  @Test
  void leasesAreBoundedByTheLimitForAnySizer() {
    StoreCell greedy = cell(true, new RecordingSizer(1_000));
    assertThat(GlobalCells.wanted(greedy, 1, 0)).isEqualTo(100);
    greedy.complete(100, new LeaseGrant(10, END, 0, 90), 0, 0);
    greedy.reopen();
    assertThat(GlobalCells.wanted(greedy, 11, 0)).isEqualTo(100);
  }

  @Test
  void onlyTheFirstAttemptCountsAsDemand() {
    RecordingSizer sizer = new RecordingSizer(10);
    StoreCell counting = cell(true, sizer);
    lease(counting, new LeaseGrant(0, END, 0, 0), 0, 0);
    FixedWindow more = new FixedWindow(200, 10_000);
    assertThat(counting.tryAcquire(more, 3, true, 0).kind()).isEqualTo(Kind.SHORT);
    assertThat(counting.tryAcquire(more, 3, false, 0).kind()).isEqualTo(Kind.SHORT);
    lease(counting, new LeaseGrant(10, 2 * END, END, 190), ms(END), ms(END));
    assertThat(sizer.observed).containsExactly(3L);
  }

  /** Always returns one size, and records the observed demand. */
  private static final class RecordingSizer implements LeaseSizer {
    private final List<Long> observed = new ArrayList<>();
    private final long size;

    private RecordingSizer(long size) {
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

  private StoreCell cell(boolean coupled, LeaseSizer sizer) {
    Tier.Leased options = new Tier.Leased(new LeaseSize.Fixed(10), coupled, 3, IDLE);
    return new StoreCell(Node.charge("user", hundred), options, sizer, 0);
  }

  private StoreCell cell(Tier.Leased options) {
    return new StoreCell(Node.charge("user", hundred), options, new LeaseSize.Fixed(10), 0);
  }

  private AcquireResult take(StoreCell from, long cost, long now) {
    return from.tryAcquire(hundred, cost, true, now);
  }

  private static Completed lease(StoreCell to, LeaseGrant grant, long asked, long answered) {
    to.reopen();
    assertThat(GlobalCells.wanted(to, 1, asked)).isEqualTo(10);
    return to.complete(10, grant, asked, answered);
  }

  private static long ms(long millis) {
    return millis * 1_000_000;
  }
}
