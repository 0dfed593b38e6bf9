package io.throttlekit.federation;

import io.throttlekit.store.LeaseGrant;
import java.util.concurrent.CompletionStage;

/**
 * A store of budgets that all regions share. It is remote, so calls may be slow.
 *
 * <p>Windows follow the coordinator's clock and are aligned to the epoch. Granted units count as
 * spent until they are returned in the same window; later returns are ignored, because the next
 * window has a full budget of its own.
 *
 * <p>Regions share a budget under the same terms. The terms of a region's last grant stay in effect
 * until the last window that it leased from has ended; the terms of its last request, granted or
 * not, are kept as long. A lease is granted if, for each other region with terms in effect, these
 * or its last requested terms are the same. From then on the new terms are in effect for all of
 * these regions. So all regions change together, when the last of them requests the new terms; a
 * region with terms of its own is refused and does not affect the others. Units that were leased in
 * a window stay counted when its limit changes: at most the largest of its limits is granted.
 *
 * <p>Of a budget that tenants share, each lease and return is a tenant's. A tenant is active in a
 * window if it has leased from it, or from the one before, granted or not; also in the next window
 * before that begins. A lease is granted up to what the tenant may take then, see {@link
 * io.throttlekit.fairness.FairShares}, and what is left is what the tenant may take still. Units
 * that are returned are the tenant's again, and beyond its guarantee anyone's.
 *
 * <p>A coordinator that has lost its data would grant every budget again. One that can lose data
 * keeps an epoch with it, so that a caller that knew another epoch is notified. A lease with {@link
 * io.throttlekit.DataLoss#DENY} is then not granted for windows that had begun, or could be leased,
 * before the loss.
 *
 * <p>Thread-safe and non-blocking. A stage fails with a {@link
 * io.throttlekit.store.StoreException}, and the request may have been counted all the same; or with
 * a {@link TermsMismatchException}, and nothing was counted.
 */
public interface GlobalCoordinator extends AutoCloseable {

  /**
   * Grants what is left of a window's budget, up to the request, possibly nothing. A window that
   * has ended, or is not the current or next one, has nothing left. A lease with an id takes effect
   * once per window and has no deadline: its stage completes when the answer arrives, however late,
   * or fails when the connection is lost.
   */
  CompletionStage<LeaseGrant> lease(BudgetLease lease);

  /**
   * Takes units back until their window ends, each return once.
   *
   * @return whether they can be leased again
   */
  CompletionStage<Boolean> reconcile(BudgetReturn units);

  /** Completes with the coordinator's clock, in ms since the epoch, when it answers. */
  CompletionStage<Long> health();

  /** Rejects new calls and closes connections; calls in flight may fail. */
  @Override
  void close();
}
