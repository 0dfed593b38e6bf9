package io.throttlekit.tier;

import io.throttlekit.Charge;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.TimeSource;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.StoreException;
import java.util.List;
import java.util.concurrent.CompletionStage;
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
  final CounterStore store;
  final InMemoryStore local;
  final TimeSource time;
  final TierListener listener;
  final LeasedTier leases;
  final CachedDenyTier denials;
  final LocalShare share;
  final Patience patience;
  final long maxWaitNanos;

  /** Tiers in front of {@code store}, which {@link #close} does not close. */
  public Tiers(
      CounterStore store,
      TimeSource time,
      Timer timer,
      TierSettings settings,
      TierListener listener) {
    this(store, NoFederation.SOURCE, time, timer, settings, listener);
  }

  /**
   * The same.
   *
   * @param global where units are leased that all regions share
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
            new BothScopes(new StoreLeases(store, new Clocks(time, timer::runAfter)), global),
            time,
            timer,
            settings.maxCells(),
            listener);
    this.denials = new CachedDenyTier(settings.maxCells(), time);
    this.share = new LocalShare(settings.localShare());
    this.patience = new Patience(time, timer);
    this.maxWaitNanos = settings.patienceNanos();
  }

  /** Is told of a decision that could not be made at once: one of its methods is called, once. */
  public interface Later {
    /** The request is decided. On any thread; may not block. */
    void decided(TieredOutcome outcome);

    /** The store did not answer, and a claim says {@link Outage#ERROR}. As {@link #decided}. */
    void failed(StoreException cause);

    /**
     * Returns how long the caller of the request waits, in ns from now, where that is less than
     * {@link TierSettings#patienceNanos}. Called at most once, by the thread that calls {@link
     * Tiers#acquire}, and only of a request that has to wait.
     */
    default long patienceNanos() {
      return Long.MAX_VALUE;
    }
  }

  /**
   * Decides and counts the claims of one request as one.
   *
   * @param claims at least one
   * @return null when {@code later} will be told, or was told already
   */
  public @Nullable TieredOutcome acquire(List<TieredClaim> claims, Later later) {
    return new TieredRequest(this, claims, later).start();
  }

  /**
   * Decides a request of one charge by units that are leased already, or by knowing that there are
   * none.
   *
   * @param charge of a fixed window
   * @return null when that takes more; nothing is counted then, and the request has to be {@link
   *     #acquire}d
   */
  public @Nullable Decision spend(Charge charge, Tier.Leasing leased, DataLoss onDataLoss) {
    if (charge.cost() <= 0) {
      return null;
    }
    long now = time.monotonicNanos();
    leases.checkClock(now);
    LeaseCell cell = leases.cell(charge, leased, true);
    Take take = cell.takeAtOnce((FixedWindow) charge.algorithm(), charge.cost(), now);
    Decision decision = take.decision();
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
   * Forgets what the store has refused: it has lost its counters, and may decide otherwise now.
   * What is leased stays, for it was granted.
   */
  public void forgetRefusals() {
    denials.clear();
    leases.reopenAll();
  }

  /** How many counters have units leased here. */
  public long cells() {
    return leases.size();
  }

  /**
   * Completes when this is closed and the store, and all regions, have taken what was given back,
   * or have failed to.
   */
  public CompletionStage<?> ended() {
    return leases.ended();
  }

  /** Gives what is leased back to the store. */
  @Override
  public void close() {
    leases.close();
    local.close();
  }
}
