package io.throttlekit.tier;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.TimeSource;
import io.throttlekit.lease.LeaseCell;
import io.throttlekit.lease.Tier;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Decides requests on counters of a shared store, as far as each tier allows in this process's
 * memory.
 *
 * <p>The claims of a request are decided and charged together, whatever their tiers: leased units
 * that were taken are put back when the request is refused. A refusal in memory refuses the request
 * without a decision by the store; the store then counts only what always counts: refunds,
 * overdrafts and {@link io.throttlekit.Overrun#COUNT}. Refunds and peeks of leased counters go to
 * the store.
 *
 * <p>Thread-safe and non-blocking.
 */
public final class Tiers implements AutoCloseable {
  final CounterStore store;
  final InMemoryStore local;
  final TimeSource time;
  final TierListener listener;
  final LeasedTier leases;
  final CachedDenyTier denials;
  final LocalShare share;
  final WaitTimeouts timeouts;
  final long maxWaitNanos;

  /** Creates tiers in front of {@code store}, which {@link #close} does not close. */
  public Tiers(
      CounterStore store,
      TimeSource time,
      Timer timer,
      TierSettings settings,
      TierListener listener) {
    this(store, NoFederation.SOURCE, time, timer, settings, listener);
  }

  /**
   * Creates tiers with a source of globally shared units.
   *
   * @param global the source of units that all regions share
   */
  public Tiers(
      CounterStore store,
      LeaseSource global,
      TimeSource time,
      Timer timer,
      TierSettings settings,
      TierListener listener) {
    this.store = store;
    this.time = time;
    this.listener = listener;
    this.local = new InMemoryStore(time, settings.maxCells());
    this.leases =
        new LeasedTier(
            new StoreLeases(store, new Clocks(time, timer::runAfter)),
            global,
            time,
            timer,
            settings.maxCells(),
            listener);
    this.denials = new CachedDenyTier(settings.maxCells(), time);
    this.share = new LocalShare(settings.localShare());
    this.timeouts = new WaitTimeouts(time, timer);
    this.maxWaitNanos = settings.waitTimeoutNanos();
  }

  /**
   * Decides and counts the claims of one request together.
   *
   * @param claims at least one
   * @return the outcome; null when {@code callback} is notified instead, possibly before this
   *     returns
   */
  public @Nullable TieredOutcome acquire(List<TieredClaim> claims, OutcomeCallback callback) {
    return new TieredRequest(this, claims, callback).start();
  }

  /**
   * Decides a request with one charge by leased units, or by a report that none are left.
   *
   * @param charge of a fixed window
   * @return null when that is not enough; {@link #acquireAfterMiss} is to be called then
   */
  public @Nullable Decision tryAcquire(Charge charge, Tier.Leasing leased, DataLoss onDataLoss) {
    if (charge.cost() <= 0) { // refunds and peeks take the full path
      return null;
    }
    long now = time.monotonicNanos();
    leases.checkClock(now);
    LeaseCell cell = leases.cell(charge, leased, true);
    FixedWindow window = (FixedWindow) charge.algorithm();
    Decision decision = cell.tryAcquire(window, charge.cost(), true, now).decision();
    if (decision == null) {
      return null;
    }
    if (decision.admitted()) {
      leases.refill(cell, onDataLoss, now);
    }
    listener.decided(leased instanceof Tier.Global ? DecidedBy.GLOBAL_LEASE : DecidedBy.LEASE);
    return decision;
  }

  /**
   * Decides a claim with one charge after {@link #tryAcquire} returned null for it, without trying
   * its units again before more are leased. Also for a charge that is not leased.
   *
   * @return the outcome; null when {@code callback} is notified instead, possibly before this
   *     returns
   */
  public @Nullable TieredOutcome acquireAfterMiss(TieredClaim claim, OutcomeCallback callback) {
    TieredRequest request = new TieredRequest(this, List.of(claim), callback);
    boolean tried = claim.claim().charges().getFirst().cost() > 0;
    return tried && claim.tier() instanceof Tier.Leasing leasing
        ? request.startAfterMiss(leasing)
        : request.start();
  }

  /**
   * Clears all cached refusals, because the store has lost its counters and may now admit. Leased
   * units stay valid.
   */
  public void forgetRefusals() {
    denials.clear();
    leases.reopenAll();
  }

  /** Returns the number of counters with leased units. */
  public long cells() {
    return leases.size();
  }

  /**
   * Completes when this is closed and every return to the store and the global source has been
   * answered or has failed.
   */
  public CompletionStage<?> ended() {
    return leases.ended();
  }

  /** Returns all leased units. */
  @Override
  public void close() {
    leases.close();
    local.close();
  }
}
