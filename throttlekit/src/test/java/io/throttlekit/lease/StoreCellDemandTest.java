package io.throttlekit.lease;

import static io.throttlekit.lease.GlobalCells.ms;
import static io.throttlekit.lease.GlobalCells.wanted;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Cost;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.lease.sizing.LeaseSizer;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.tier.Node;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the sizer of a cell observes. The store's clock is the test's, from the first grant on. */
class StoreCellDemandTest {
  private static final long LENGTH = 1_000;
  private static final FixedWindow HUNDRED = new FixedWindow(100, LENGTH);

  /** Always requests 7, and records the observed demand. */
  private static final class Notes implements LeaseSizer {
    private final List<Long> demands = new ArrayList<>();
    private long offered = -1;
    private long size = 7;

    @Override
    public long size(long offered, long limit) {
      this.offered = offered;
      return size;
    }

    @Override
    public void observe(long demand, long limit) {
      demands.add(demand);
    }
  }

  private final Notes notes = new Notes();
  private final StoreCell cell = cell(notes);

  @Test
  void observesTheExactDemandOfEachWindow() {
    grant(cell, 0, 0);
    long[] offered = {20, 5, 40, 13};
    for (int i = 0; i < offered.length; i++) {
      for (int request = 0; request < offered[i]; request++) {
        offer(cell, 1, i * LENGTH + request);
      }
    }
    assertThat(notes.demands).containsExactly(20L, 5L, 40L);
    offer(cell, 1, 4 * LENGTH);
    assertThat(notes.demands).containsExactly(20L, 5L, 40L, 13L);
  }

  @Test
  void demandFromBeforeTheClockIsKnownIsThatOfTheFirstWindow() {
    offer(cell, 3, 300);
    offer(cell, 4, 2_300);
    grant(cell, 0, 2_400);
    offer(cell, 2, 2_999);
    assertThat(notes.demands).isEmpty();
    offer(cell, 1, 3_000);
    assertThat(notes.demands).containsExactly(9L);
  }

  @Test
  void closesAWindowByTheClockAloneThoughNothingMoreIsGranted() {
    grant(cell, 0, 0);
    offer(cell, 3, 999);
    wanted(cell, 1, ms(1_000));
    assertThat(notes.demands).containsExactly(3L);
  }

  @Test
  void windowsAreAlignedToTheEpoch() {
    grant(cell, 0, 1_700);
    offer(cell, 1, 1_700);
    offer(cell, 1, 1_999);
    assertThat(notes.demands).isEmpty();
    offer(cell, 1, 2_000);
    assertThat(notes.demands).containsExactly(2L);
  }

  @Test
  void aMillionIdleWindowsAreSkippedAtOnce() {
    grant(cell, 0, 0);
    offer(cell, 4, 0);
    offer(cell, 6, 1_000_000_000_500L);
    offer(cell, 1, 2_000_000_001_000L);
    assertThat(notes.demands).containsExactly(4L, 6L);
  }

  @Test
  void timeThatRunsBackwardsStaysInTheNewestWindow() {
    grant(cell, 0, 5_000);
    offer(cell, 1, 5_000);
    offer(cell, 1, 3_000);
    offer(cell, 1, 5_999);
    assertThat(notes.demands).isEmpty();
    offer(cell, 1, 6_000);
    assertThat(notes.demands).containsExactly(3L);
  }

  @Test
  void requestsWhatWaitsAtLeastAndTheLimitAtMost() {
    assertThat(wanted(cell(notes), 1, 0)).isEqualTo(7);
    assertThat(wanted(cell(notes), 30, 0)).isEqualTo(30);
    notes.size = 700;
    assertThat(wanted(cell(notes), 1, 0)).isEqualTo(100);
    notes.size = 0;
    assertThat(wanted(low(notes), 0, 0)).isOne();
  }

  @Test
  void theSizerReceivesWhatWasOfferedBeforeTheRequestsThatWait() {
    grant(cell, 0, 0);
    offer(cell, 10, 0);
    offer(cell, 3, 1);
    assertThat(wanted(cell, 3, ms(1))).isPositive();
    assertThat(notes.offered).isEqualTo(10);
    cell.fail();
    assertThat(wanted(cell, 1, ms(1_000))).isPositive();
    assertThat(notes.offered).isZero();
  }

  @Test
  void countsWithoutOverflow() {
    grant(cell, 0, 0);
    for (int i = 0; i < 3; i++) {
      offer(cell, Cost.MAX, 0);
    }
    offer(cell, 1, 1_000);
    assertThat(notes.demands).containsExactly(Cost.MAX);
  }

  @Test
  void aRefusedFloodDoesNotPreventFurtherLeases() {
    StoreCell flooded = cell(LeaseSizer.of(new LeaseSize.Adaptive(), 100));
    for (long now = 0; now < 60_000; now += 10) {
      offer(flooded, 100, now);
      offer(flooded, 100, now);
      long wanted = wanted(flooded, 1, ms(now));
      assertThat(wanted).isBetween(1L, 100L);
      complete(flooded, wanted, 0, now);
    }
  }

  private static StoreCell cell(LeaseSizer sizer) {
    return cell(sizer, 0);
  }

  /** Returns a cell that leases ahead of need. */
  private static StoreCell low(LeaseSizer sizer) {
    StoreCell low = cell(sizer, 1);
    offer(low, 1, 0);
    complete(low, wanted(low, 1, 0), 1, 0);
    return low;
  }

  private static StoreCell cell(LeaseSizer sizer, long lowWater) {
    Tier.Leased tier = new Tier.Leased(new LeaseSize.Adaptive(), true, lowWater, 0);
    return new StoreCell(Node.charge("user", HUNDRED), tier, sizer, 0);
  }

  private static void offer(StoreCell to, long units, long millis) {
    to.tryAcquire(HUNDRED, units, true, ms(millis));
  }

  private static void grant(StoreCell to, long units, long millis) {
    complete(to, wanted(to, 1, ms(millis)), units, millis);
  }

  private static void complete(StoreCell to, long wanted, long units, long millis) {
    long end = millis / LENGTH * LENGTH + LENGTH;
    to.complete(wanted, new LeaseGrant(units, end, millis, 50), ms(millis), ms(millis));
    to.reopen(); // as if units had been returned to the store
  }
}
