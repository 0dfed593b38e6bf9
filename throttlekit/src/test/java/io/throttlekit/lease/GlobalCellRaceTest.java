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
 * Threads take, refund, lease both windows, complete, return and retire on one cell, as ordered by
 * Lincheck: every outcome must be that of some order of whole operations.
 */
@Isolated("Lincheck changes the classes that it checks, for all threads")
@Tag("exploration")
public class GlobalCellRaceTest {
  private static final boolean THOROUGH = Boolean.getBoolean("throttlekit.thorough");
  private static final long END = 60_000;

  /** A time at which either window may be current. */
  private static final long EITHER = 60_000_000_000L;

  private final FixedWindow window = new FixedWindow(7, END);
  private final GlobalCell cell =
      new GlobalCell(
          Node.charge("user", window),
          GlobalCells.tier(window, new LeaseSize.Fixed(2), 1, 1),
          new LeaseSize.Fixed(2),
          0);

  @Operation
  public String take() {
    return inWords(cell.tryAcquire(window, 1, true, 1));
  }

  @Operation
  public String takeOfEither() {
    return inWords(cell.tryAcquire(window, 1, true, EITHER));
  }

  @Operation
  public String refund() {
    return inWords(GlobalCells.refund(cell, 1, 1));
  }

  /** All of a result but its cell, whose state is not the result's. */
  private static String inWords(AcquireResult result) {
    return "%s %s of %d, %b"
        .formatted(result.kind(), result.decision(), result.windowEndMillis(), result.ofNextToo());
  }

  @Operation
  public long beginLease() {
    return GlobalCells.wanted(cell, 1, 1);
  }

  @Operation
  public String completeLease() {
    Completed completed = cell.complete(2, new LeaseGrant(2, END, END, END, 5), 1, 2);
    return completed.end() + " " + completed.unspendable() + " " + completed.waiting().size();
  }

  @Operation
  public boolean awaitLease() {
    return cell.await((_, _, _) -> {});
  }

  @Operation
  public int failLease() {
    return cell.fail().waiting().size();
  }

  @Operation
  public long beginNext() {
    return GlobalCells.wantedNext(cell, 1);
  }

  @Operation
  public long completeNext() {
    return cell.completeNext(new LeaseGrant(2, 2 * END, 2 * END, 2 * END, 5), 1, 2);
  }

  @Operation
  public boolean putBack() {
    return cell.putBack(1, END);
  }

  @Operation
  public String takeIdle() {
    return cell.takeIdle(EITHER).toString();
  }

  @Operation
  public String retire() {
    return cell.retire(EITHER).toString();
  }

  @Test
  void isLinearizableUnderStress() {
    new StressOptions()
        .iterations(THOROUGH ? 12 : 5)
        .invocationsPerIteration(300)
        .threads(2)
        .actorsPerThread(4)
        .actorsBefore(3)
        .actorsAfter(2)
        .check(GlobalCellRaceTest.class);
  }

  @Test
  void isLinearizableInModelChecking() {
    new ModelCheckingOptions()
        .iterations(THOROUGH ? 5 : 2)
        .invocationsPerIteration(50)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(3)
        .actorsAfter(1)
        .check(GlobalCellRaceTest.class);
  }
}
