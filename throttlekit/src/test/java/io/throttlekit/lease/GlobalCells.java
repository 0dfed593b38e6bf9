package io.throttlekit.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.lease.sizing.LeaseSizer;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.Node;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Factories of cells with a hundred units in ten seconds, leased in tens, and operations on them.
 */
public final class GlobalCells {
  static final long END = 10_000;
  static final long IDLE = 2_000;
  static final FixedWindow HUNDRED = new FixedWindow(100, END);

  private GlobalCells() {}

  public static Tier.Global tier(
      FixedWindow window, LeaseSize size, long lowWater, long idleMillis) {
    Terms terms = new Terms("shop", List.of(window));
    return new Tier.Global(size, lowWater, idleMillis, terms, DataLoss.REFILL, false);
  }

  static GlobalCell cell(long idleMillis) {
    return cell(0, idleMillis, new LeaseSize.Fixed(10));
  }

  static GlobalCell cell(long lowWater, long idleMillis, LeaseSizer sizer) {
    Tier.Global tier = tier(HUNDRED, new LeaseSize.Fixed(10), lowWater, idleMillis);
    return new GlobalCell(Node.charge("user", HUNDRED), tier, sizer, 0);
  }

  static AcquireResult take(GlobalCell from, long cost, long now) {
    return from.tryAcquire(HUNDRED, cost, true, now);
  }

  /** Returns units of a window that ends {@code millis} after the request. */
  static LeaseGrant units(long units, long end, long millis, long left) {
    return new LeaseGrant(units, end, millis, millis, left);
  }

  /** The parts of a lease request that a cell chooses; 0 units for no request. */
  record StartedLease(long units, long size, long usable, long windowEndMillis) {
    static StartedLease of(@Nullable LeaseRequest request) {
      return request == null
          ? new StartedLease(0, 0, 0, LeaseRequest.CURRENT)
          : new StartedLease(
              request.units(), request.size(), request.usable(), request.windowEndMillis());
    }
  }

  /** Begins a lease. */
  static StartedLease begun(LeaseCell cell, long cost, long now) {
    return StartedLease.of(cell.refill(cost, DataLoss.REFILL, now));
  }

  /** Begins a lease of the next window. */
  static StartedLease begunNext(GlobalCell cell, long now) {
    return StartedLease.of(cell.refillNext(now));
  }

  static AcquireResult refund(GlobalCell cell, long units, long now) {
    // 0 units are refunded by an attempt that is not the first.
    return cell.tryAcquire(HUNDRED, Math.min(-1, -units), units > 0, now);
  }

  /** Begins a lease and returns its units; 0 for none. */
  static long wanted(LeaseCell cell, long cost, long now) {
    return begun(cell, cost, now).units();
  }

  /** Begins a lease of the next window and returns its units; 0 for none. */
  static long wantedNext(GlobalCell cell, long now) {
    return begunNext(cell, now).units();
  }

  static Completed lease(GlobalCell to, long cost, LeaseGrant answer, long asked, long answered) {
    long wanted = wanted(to, cost, asked);
    assertThat(wanted).isPositive();
    return to.complete(wanted, answer, asked, answered);
  }

  /** Leases units of the second window at the beginning of the first. */
  static void leaseNext(GlobalCell to, long units, long left, long now) {
    assertThat(wantedNext(to, now)).isPositive();
    LeaseGrant answer = units(units, 2 * END, 2 * END - now / 1_000_000, left);
    assertThat(to.completeNext(answer, now, now)).isZero();
  }

  /** Leases units of both windows at the beginning of the first; 90 of each are left. */
  static void leaseBoth(GlobalCell to, long current, long next) {
    assertThat(wanted(to, 1, 0)).isPositive();
    to.complete(current, units(current, END, END, 90), 0, 0);
    take(to, 1, 0);
    to.putBack(1, END);
    leaseNext(to, next, 90, 0);
  }

  static long ms(long millis) {
    return millis * 1_000_000;
  }
}
