package io.throttlekit.tier;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.Decision;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.StoreException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides requests on counters of a shared store, as much of each as its tier allows in this
 * process's memory.
 *
 * <p>The claims of a request are decided and charged as one, whatever their tiers: what was taken
 * from a lease goes back when the request is refused. A refusal out of memory refuses the request
 * without asking the store, which then counts only what always counts: refunds, overdrafts, and
 * what {@link io.throttlekit.Overrun#COUNT} counts. Refunds and peeks of leased counters go to the
 * store.
 *
 * <p>Thread-safe; nothing blocks.
 */
public final class Tiers implements AutoCloseable {
  private static final List<DecidedBy> BY_LEASE = List.of(DecidedBy.LEASE);

  final CounterStore store;
  final InMemoryStore local;
  final TimeSource time;
  final Timer timer;
  final TierSettings settings;
  final TierListener listener;
  final LeasedTier leases;
  final CachedDenyTier denials;
  final LocalShare share;

  /** Tiers in front of {@code store}, which {@link #close} does not close. */
  public Tiers(
      CounterStore store,
      TimeSource time,
      Timer timer,
      TierSettings settings,
      TierListener listener) {
    this.store = store;
    this.time = time;
    this.timer = timer;
    this.settings = settings;
    this.listener = listener;
    this.local = new InMemoryStore(time, settings.maxCells());
    this.leases = new LeasedTier(store, time, timer, settings.maxCells(), listener);
    this.denials = new CachedDenyTier(settings.maxCells());
    this.share = new LocalShare(settings.localShare());
  }

  /** Is told of a decision that could not be made at once: one of its methods is called, once. */
  public interface Later {
    /** The request is decided. On any thread; may not block. */
    void decided(TieredOutcome outcome);

    /** The store did not answer, and a claim says {@link Outage#ERROR}. As {@link #decided}. */
    void failed(StoreException cause);
  }

  /**
   * Decides and counts the claims of one request as one.
   *
   * @param claims at least one
   * @return null when {@code later} will be told, or was told already
   */
  public @Nullable TieredOutcome acquire(List<TieredClaim> claims, Later later) {
    TieredClaim only = claims.getFirst();
    if (claims.size() == 1
        && only.tier() instanceof Tier.Leased leased
        && only.claim().charges().size() == 1
        && only.claim().charges().getFirst().cost() > 0) {
      TieredOutcome atOnce = spend(only.claim(), leased);
      return atOnce != null ? atOnce : new TieredRequest(this, claims, false, later).begin();
    }
    return new TieredRequest(this, claims, true, later).begin();
  }

  /** The way of nearly every request for a leased counter; null when its cell cannot say. */
  private @Nullable TieredOutcome spend(Claim claim, Tier.Leased leased) {
    Charge charge = claim.charges().getFirst();
    LeaseCell cell = leases.cell(charge, leased);
    long now = time.monotonicNanos();
    Take take = cell.take((FixedWindow) charge.algorithm(), charge.cost(), true, now);
    Decision decision = take.decision();
    if (decision == null) {
      return null;
    }
    if (decision.admitted()) {
      leases.refill(cell, claim.onDataLoss(), now);
    }
    boolean admitted = decision.admitted() || claim.role() == Claim.Role.SHADOW;
    return new TieredOutcome(admitted, List.of(decision), BY_LEASE);
  }

  /** How many counters have units leased here. */
  public long cells() {
    return leases.size();
  }

  /** Gives what is leased back to the store. */
  @Override
  public void close() {
    leases.close();
    local.close();
  }
}
