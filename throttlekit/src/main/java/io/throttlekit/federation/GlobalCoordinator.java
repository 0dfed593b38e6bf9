package io.throttlekit.federation;

import io.throttlekit.store.Grant;
import java.util.concurrent.CompletionStage;

/**
 * Where regions lease what they share. It is far away, so a call may take long.
 *
 * <p>Windows follow the coordinator's clock and are aligned to the epoch. What it has granted is
 * spent, for all it knows, until it comes back in the same window; what comes back later is worth
 * nothing, for the next window has a whole budget of its own.
 *
 * <p>Regions share a budget by the same terms. What a region leases by stands until the last window
 * that it leased from ends, and what it asked for last, granted or not, is known for as long. A
 * lease is granted when each of the other regions that stand leases by its terms or has asked for
 * them last; from then on all of these lease by them. So all regions change together, when the last
 * one asks for what the others have asked for, and one that is alone with its terms is refused and
 * is in nobody's way. What was leased of a window stays counted whatever its limit becomes: not
 * more is granted than the largest limit that it had.
 *
 * <p>A coordinator that has lost its data would grant every budget again. One that can lose them
 * keeps an epoch beside them, so that a caller who knew another one is told so: what a lease asks
 * for with {@link io.throttlekit.DataLoss#DENY} is then not granted for windows that had begun, or
 * could be leased, before the loss.
 *
 * <p>Thread-safe. No method blocks. A stage that fails does so with a {@link
 * io.throttlekit.store.StoreException}, and what was asked may have been counted all the same; or
 * with a {@link TermsMismatchException}, and nothing was.
 */
public interface GlobalCoordinator extends AutoCloseable {

  /**
   * Grants as much of a lease as is left of its window's budget, which may be nothing. A window
   * that has ended has nothing left; neither has one that is not next. One with an id takes effect
   * once for each window, and fails by no deadline: its stage completes when the answer comes,
   * however late, or fails when the connection is lost.
   */
  CompletionStage<Grant> lease(BudgetLease lease);

  /**
   * Takes units back while their window lasts, or has not begun, each return once.
   *
   * @return whether they can be leased again
   */
  CompletionStage<Boolean> reconcile(BudgetReturn units);

  /** Completes with the coordinator's clock, in ms since the epoch, if it answers. */
  CompletionStage<Long> health();

  /** Takes no more calls, and lets go of connections; calls in progress may fail. */
  @Override
  void close();
}
