package io.throttlekit.tier;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.lease.Tier;
import io.throttlekit.once.Clocks;
import io.throttlekit.store.Charge;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.StoreException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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
public final class Tiers implements Counters, AutoCloseable {
  final CounterStore store;
  final InMemoryStore local;
  final TimeSource time;
  final TierListener listener;
  final LeasedTier leases;
  final CachedDenyTier denials;
  final LocalShare share;
  final WaitTimeouts timeouts;
  final long maxWaitNanos;

  /**
   * Creates tiers in front of {@code store}, which {@link #close} does not close, with the system's
   * clock.
   */
  public static Tiers of(CounterStore store, TierSettings settings) {
    return new Tiers(store, TimeSource.system(), Scheduler.system(), settings, TierListener.NONE);
  }

  /** Creates tiers in front of {@code store}, which {@link #close} does not close. */
  public Tiers(
      CounterStore store,
      TimeSource time,
      Scheduler timer,
      TierSettings settings,
      TierListener listener) {
    this(store, null, time, timer, settings, listener);
  }

  /**
   * Creates tiers with a source of globally shared units.
   *
   * @param global the source of units that all regions share; absent without a coordinator
   */
  public Tiers(
      CounterStore store,
      @Nullable LeaseSource global,
      TimeSource time,
      Scheduler timer,
      TierSettings settings,
      TierListener listener) {
    this.store = store;
    this.time = time;
    this.listener = listener;
    this.local = new InMemoryStore(time, settings.maxCells());
    this.leases =
        new LeasedTier(
            new StoreLeases(store, new Clocks(time, timer)),
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
   * Decides the claims of one request together.
   *
   * @return a stage, complete already if memory decided; fails with a {@link StoreException} if the
   *     store did not answer and the policy of a claim is {@link Outage#ERROR}
   */
  public CompletionStage<TieredOutcome> acquire(List<TieredClaim> claims) {
    CompletableFuture<TieredOutcome> stage = new CompletableFuture<>();
    TieredOutcome known =
        acquire(
            claims,
            new OutcomeCallback() {
              @Override
              public void decided(TieredOutcome outcome) {
                stage.complete(outcome);
              }

              @Override
              public void failed(StoreException cause) {
                stage.completeExceptionally(cause);
              }
            });
    return known == null ? stage : CompletableFuture.completedFuture(known);
  }

  @Override
  public @Nullable TieredOutcome acquire(List<TieredClaim> claims, OutcomeCallback callback) {
    return new TieredRequest(this, claims, callback).start();
  }

  /**
   * Decides a charge by leased units, or by a report that none are left.
   *
   * @param charge of a fixed window if the tier leases
   */
  @Override
  public @Nullable Decision tryAcquire(Charge charge, Tier tier, DataLoss onDataLoss) {
    // Refunds and peeks take the full path.
    if (!(tier instanceof Tier.Leasing leased) || charge.cost() <= 0) {
      return null;
    }
    long now = time.monotonicNanos();
    leases.checkClock(now);
    Decision decision = leases.tryAcquire(charge, leased, onDataLoss, true, now).decision();
    if (decision != null) {
      listener.decided(decidedBy(tier));
    }
    return decision;
  }

  @Override
  public DecidedBy decidedBy(Tier tier) {
    return tier instanceof Tier.Global ? DecidedBy.GLOBAL_LEASE : DecidedBy.LEASE;
  }

  @Override
  public @Nullable TieredOutcome acquireAfterMiss(TieredClaim claim, OutcomeCallback callback) {
    TieredRequest request = new TieredRequest(this, List.of(claim), callback);
    boolean tried = claim.charges().getFirst().cost() > 0;
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
