package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.OutcomeCallback;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Limits that many regions share, decided in this process's memory (L1). Units are leased from the
 * region's escrow (L2), which is refilled from the coordinator of all regions (L3).
 *
 * <p>At most the limit is admitted per window of the coordinator's clock, by any number of regions
 * and processes, during any outage: leased units are spent, and then {@link Outage} decides.
 *
 * <p>Thread-safe and non-blocking.
 */
public final class FederatedLimiter implements AutoCloseable {
  private final InMemoryStore noStore;
  private final Tiers tiers;

  /** Creates a limiter that leases from {@code federation}, which {@link #close} does not close. */
  public FederatedLimiter(
      Federation federation,
      TimeSource time,
      Scheduler timer,
      TierSettings settings,
      TierListener listener) {
    this.noStore = new InMemoryStore(time, 1); // required by Tiers, holds nothing
    this.tiers = new Tiers(noStore, federation, time, timer, settings, listener);
  }

  /**
   * Spends units of a budget.
   *
   * @param cost from 1; 0 is a peek; below 0 refunds units that were spent here
   * @param outage the decision when no units are leased here and none can be leased
   * @return completed on return if memory decides; fails only with {@link Outage#ERROR}, by a
   *     {@link StoreException}
   */
  public CompletionStage<Decision> charge(
      CounterKey key, FixedWindow window, Tier.Global tier, long cost, Outage outage) {
    Charge charge = new Charge(key, window, cost, Overrun.REFUSE);
    Decision known = tiers.tryAcquire(charge, tier, tier.onDataLoss());
    if (known != null) {
      return CompletableFuture.completedFuture(known);
    }
    Claim claim = new Claim(Claim.Role.ENFORCED, List.of(charge), tier.onDataLoss());
    Answer answer = new Answer();
    TieredOutcome outcome = tiers.acquireAfterMiss(new TieredClaim(claim, tier, outage), answer);
    if (outcome != null) {
      answer.decided(outcome);
    }
    return answer;
  }

  /** Completes when this is closed and every return of units was answered or has failed. */
  public CompletionStage<?> ended() {
    return tiers.ended();
  }

  /** Returns all leased units. */
  @Override
  public void close() {
    tiers.close();
    noStore.close();
  }

  private static final class Answer extends CompletableFuture<Decision> implements OutcomeCallback {
    @Override
    public void decided(TieredOutcome outcome) {
      complete(outcome.decisions().getFirst());
    }

    @Override
    public void failed(StoreException cause) {
      completeExceptionally(cause);
    }
  }
}
