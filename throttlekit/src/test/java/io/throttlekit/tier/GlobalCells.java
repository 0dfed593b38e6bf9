package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Terms;
import java.util.List;

/**
 * Factories of cells with a hundred units in ten seconds, leased in tens, and operations on them.
 */
final class GlobalCells {
  static final long END = 10_000;
  static final long IDLE = 2_000;
  static final FixedWindow HUNDRED = new FixedWindow(100, END);

  private GlobalCells() {}

  static Tier.Global tier(FixedWindow window, LeaseSize size, long lowWater, long idleMillis) {
    Terms terms = new Terms("shop", List.of(window));
    return new Tier.Global(size, lowWater, idleMillis, terms, DataLoss.REFILL, false);
  }

  static GlobalCell cell(long idleMillis) {
    return cell(0, idleMillis, new FixedSizer(10));
  }

  static GlobalCell cell(long lowWater, long idleMillis, LeaseSizer sizer) {
    Tier.Global tier = tier(HUNDRED, new LeaseSize.Fixed(10), lowWater, idleMillis);
    return new GlobalCell(Node.key("user"), HUNDRED, tier, sizer, 0);
  }

  static AcquireResult take(GlobalCell from, long cost, long now) {
    return from.take(HUNDRED, cost, true, now);
  }

  /** Returns units of a window that ends {@code millis} after the request. */
  static LeasedUnits units(long units, long end, long millis, long left) {
    return new LeasedUnits(units, end, millis, millis, left);
  }

  static Completed lease(GlobalCell to, long cost, LeasedUnits answer, long asked, long answered) {
    long wanted = to.beginLease(cost, asked).units();
    assertThat(wanted).isPositive();
    return to.complete(wanted, answer, asked, answered);
  }

  /** Leases units of the second window at the beginning of the first. */
  static void leaseNext(GlobalCell to, long units, long left, long now) {
    assertThat(to.beginNext(now).units()).isPositive();
    LeasedUnits answer = units(units, 2 * END, 2 * END - now / 1_000_000, left);
    assertThat(to.completeNext(units, answer, now, now)).isZero();
  }

  /** Leases units of both windows at the beginning of the first; 90 of each are left. */
  static void leaseBoth(GlobalCell to, long current, long next) {
    assertThat(to.beginLease(1, 0).units()).isPositive();
    to.complete(current, units(current, END, END, 90), 0, 0);
    take(to, 1, 0);
    to.putBack(1, END);
    leaseNext(to, next, 90, 0);
  }

  static long ms(long millis) {
    return millis * 1_000_000;
  }
}
