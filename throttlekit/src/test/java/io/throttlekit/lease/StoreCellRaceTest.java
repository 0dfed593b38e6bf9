package io.throttlekit.lease;

import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.tier.Node;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Threads take, lease, complete, return and retire on one cell, as ordered by Lincheck: every
 * outcome must be that of some order of whole operations.
 */
@Isolated("Lincheck changes the classes that it checks, for all threads")
@Tag("exploration")
public class StoreCellRaceTest {
  private static final boolean THOROUGH = Boolean.getBoolean("throttlekit.thorough");
  private static final long WINDOW_END = 60_000;

  /** Long enough for units to be idle. */
  private static final long LATER = 2_000_000;

  private final FixedWindow window = new FixedWindow(7, 60_000);
  private final Tier.Leased options = new Tier.Leased(new LeaseSize.Fixed(2), true, 1, 1);
  private final StoreCell cell =
      new StoreCell(Node.charge("user", window), options, new LeaseSize.Fixed(2), 0);

  @Operation
  public String take() {
    AcquireResult take = cell.tryAcquire(window, 1, true, 1);
    return take.kind() + " " + take.decision();
  }

  @Operation
  public long beginLease() {
    return GlobalCells.wanted(cell, 1, 1);
  }

  @Operation
  public String completeLease() {
    Completed completed =
        cell.complete(2, new LeaseGrant(2, WINDOW_END, WINDOW_END, WINDOW_END, 5), 1, 2);
    return completed.end() + " " + completed.unspendable() + " " + completed.waiting().size();
  }

  @Operation
  public boolean awaitLease() {
    return cell.await((_, _, _) -> {});
  }

  @Operation
  public boolean putBack() {
    return cell.putBack(1, WINDOW_END);
  }

  @Operation
  public long takeIdle() {
    return cell.takeIdle(LATER).units();
  }

  @Operation
  public long retire() {
    return cell.retire(LATER).units();
  }

  /** Finds less in a second than model checking does, in the same mutants. */
  @Test
  @Tag("thorough")
  void isLinearizableUnderStress() {
    new StressOptions()
        .iterations(20)
        .invocationsPerIteration(500)
        .threads(2)
        .actorsPerThread(4)
        .actorsBefore(2)
        .actorsAfter(2)
        .check(StoreCellRaceTest.class);
  }

  @Test
  void isLinearizableInModelChecking() {
    new ModelCheckingOptions()
        .iterations(THOROUGH ? 12 : 6)
        .invocationsPerIteration(100)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(2)
        .actorsAfter(1)
        .check(StoreCellRaceTest.class);
  }
}
