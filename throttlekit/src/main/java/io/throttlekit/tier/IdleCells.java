package io.throttlekit.tier;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.Wakeups;
import io.throttlekit.lease.LeaseCell;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Visits cells whose units may be idle before the next sweep, at the time when they may be: a sweep
 * comes once a second, which is too late for short windows. Only cells that hold units are visited,
 * so there are a few visits for each lease. Thread-safe.
 */
final class IdleCells {
  /** The resolution of the timers: a visit is at most this late. */
  private static final long RESOLUTION_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** The most visits per timer, 100,000 per second; with more cells, a visit is later. */
  private static final int STEP_CELLS = 1_000;

  private final TimeSource time;
  private final Consumer<LeaseCell> visit;

  /** Evicted cells remain until their time, a second at most. */
  private final Queue<Due> cells =
      new PriorityQueue<>((one, other) -> Long.signum(one.nanos - other.nanos)); // can overflow

  private final Wakeups wakeups;

  private record Due(LeaseCell cell, long nanos) {}

  /**
   * Creates an object without cells.
   *
   * @param visit returns units that are idle, and may {@link #add} the cell again
   */
  IdleCells(TimeSource time, Scheduler timer, Consumer<LeaseCell> visit) {
    this.time = time;
    this.visit = visit;
    this.wakeups = new Wakeups(timer, RESOLUTION_NANOS, this::visitDue);
  }

  /** Adds a cell after its units have changed, if they may be idle before the next sweep. */
  void add(LeaseCell cell) {
    long now = time.monotonicNanos();
    long nanos = cell.nanosToIdle(now);
    if (nanos > 0 && nanos < CellSweep.ROUND_NANOS) {
      synchronized (this) {
        cells.add(new Due(cell, now + nanos));
      }
      wakeups.by(now + nanos, now);
    }
  }

  private void visitDue() {
    long now = time.monotonicNanos();
    List<LeaseCell> due = new ArrayList<>();
    Due next;
    synchronized (this) {
      next = cells.peek();
      while (next != null && next.nanos - now <= 0 && due.size() < STEP_CELLS) {
        due.add(cells.remove().cell);
        next = cells.peek();
      }
    }
    if (next != null) {
      wakeups.by(next.nanos, now); // before the visits, one of which could fail
    }
    due.forEach(visit);
  }
}
