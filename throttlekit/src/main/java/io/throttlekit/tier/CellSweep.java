package io.throttlekit.tier;

import io.throttlekit.Scheduler;
import io.throttlekit.lease.LeaseCell;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Visits every cell once a second, in several steps if there are many. Not thread-safe: one sweep
 * runs after the other.
 */
final class CellSweep {
  /** The period of a round, for up to {@code MAX_STEPS · STEP_CELLS} cells. */
  static final long ROUND_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Cells per step; more would delay the requests of the timer's thread. */
  private static final int STEP_CELLS = 5_000;

  /** The most steps per second; with more cells, a round takes longer than a second. */
  private static final int MAX_STEPS = 20;

  private final Collection<LeaseCell> cells;
  private Iterator<LeaseCell> rest = Collections.emptyIterator();

  /**
   * Creates a sweep of {@code cells}, whose iterators tolerate changes.
   *
   * @param cells a view
   */
  CellSweep(Collection<LeaseCell> cells) {
    this.cells = cells;
  }

  /** Visits the next cells. */
  void step(Consumer<LeaseCell> visit) {
    if (!rest.hasNext()) {
      rest = cells.iterator();
    }
    for (int i = 0; i < STEP_CELLS && rest.hasNext(); i++) {
      visit.accept(rest.next());
    }
  }

  /** Runs {@code step} at intervals until {@code ended}. */
  void later(Scheduler timer, BooleanSupplier ended, Runnable step) {
    timer.runAfter(
        ROUND_NANOS / Math.clamp(Math.ceilDiv(cells.size(), STEP_CELLS), 1, MAX_STEPS),
        () -> {
          if (ended.getAsBoolean()) {
            return;
          }
          try {
            step.run();
          } finally { // a failed step must not be the last
            later(timer, ended, step);
          }
        });
  }
}
