package io.throttlekit.federation;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.Tier;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import io.throttlekit.tier.Timer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One budget for many regions, spent in this process's memory: units leased from the region's
 * escrow (L2), which itself leases from the coordinator of all regions (L3), are decided on here
 * (L1).
 *
 * <p>At most the limit is admitted per window of the coordinator's clock, by any number of regions
 * and processes, through every outage: what is leased is spent, and then {@link Outage} decides.
 *
 * <p>Thread-safe; nothing blocks.
 */
public final class FederatedLimiter implements AutoCloseable {
  private final InMemoryStore nobodysStore;
  private final Tiers tiers;

  /** A limiter that leases from {@code federation}, which {@link #close} does not close. */
  public FederatedLimiter(
      Federation federation,
      TimeSource time,
      Timer timer,
      TierSettings settings,
      TierListener listener) {
    this.nobodysStore = new InMemoryStore(time, 1);
    this.tiers = new Tiers(nobodysStore, federation, time, timer, settings, listener);
  }

  /**
   * Spends units of a budget.
   *
   * @param cost from 1; 0 looks whether anything is left; below 0 refunds what was spent here
   * @param outage what is answered when nothing is leased here and nobody can be asked
   * @return done before this returns where memory knows the answer; fails only with {@link
   *     Outage#ERROR}, by a {@link StoreException}
   */
  public CompletionStage<Decision> charge(
      CounterKey key, FixedWindow window, Tier.Global tier, long cost, Outage outage) {
    Charge charge = new Charge(key, window, cost, Overrun.REFUSE);
    Decision known = tiers.spend(charge, tier, tier.onDataLoss());
    if (known != null) {
      return CompletableFuture.completedFuture(known);
    }
    Claim claim = new Claim(Claim.Role.ENFORCED, List.of(charge), tier.onDataLoss());
    Answer answer = new Answer();
    TieredOutcome outcome = tiers.acquire(List.of(new TieredClaim(claim, tier, outage)), answer);
    if (outcome != null) {
      answer.decided(outcome);
    }
    return answer;
  }

  /** Completes when this is closed and what was given back has been taken, or could not be. */
  public CompletionStage<?> ended() {
    return tiers.ended();
  }

  /** Gives what is leased back. */
  @Override
  public void close() {
    tiers.close();
    nobodysStore.close();
  }

  private static final class Answer extends CompletableFuture<Decision> implements Tiers.Later {
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
