package io.throttlekit.federation;

import io.throttlekit.ClockDrift;
import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.store.Grant;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.LeaseAsk;
import io.throttlekit.tier.LeaseSource;
import io.throttlekit.tier.LeasedUnits;
import io.throttlekit.tier.Tier;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Where the processes of a region lease what all regions share: in the region's escrow, and where
 * that has nothing, from the coordinator.
 *
 * <p>Of what the coordinator grants a process keeps what it asked for, and puts the rest into the
 * escrow, once; if nobody can say whether that arrived, nobody spends it. What comes back goes to
 * the coordinator, with what the escrow still has of that window.
 *
 * <p>Thread-safe; nothing blocks. Closes neither of the two.
 */
public final class Federation implements LeaseSource {
  private final GlobalCoordinator coordinator;
  private final @Nullable RegionalEscrow escrow;
  private final TimeSource time;
  private final FederationSettings settings;
  private final FederationListener listener;
  private final CoordinatorHealth health;
  private final AtomicLong ids = new AtomicLong();

  /** Units of this process that are on their way into the escrow. */
  private final ConcurrentMap<CounterKey, CompletionStage<Boolean>> refills =
      new ConcurrentHashMap<>();

  /**
   * The federation as one process sees it.
   *
   * @param escrow absent where a region is one process
   */
  public Federation(
      GlobalCoordinator coordinator,
      @Nullable RegionalEscrow escrow,
      TimeSource time,
      FederationSettings settings,
      FederationListener listener) {
    this.coordinator = coordinator;
    this.escrow = escrow;
    this.time = time;
    this.settings = settings;
    this.listener = listener;
    this.health = new CoordinatorHealth(time, settings.probeEveryMillis(), listener);
  }

  /** The budget that a wish is for. */
  private static Budget budget(LeaseAsk ask) {
    return new Budget(ask.key(), ask.window(), tier(ask).terms());
  }

  /** The counter in the region's escrow: regions that keep theirs in one store have their own. */
  private CounterKey regional(LeaseAsk ask) {
    return ask.key().inScope(settings.region() + '/' + ask.key().scope());
  }

  private static Tier.Global tier(LeaseAsk ask) {
    if (ask.tier() instanceof Tier.Global global) {
      return global;
    }
    throw new IllegalArgumentException("only what is global is leased from a federation");
  }

  /** {@inheritDoc} A mismatch between regions is told as a failure, too. */
  @Override
  public CompletionStage<LeasedUnits> lease(LeaseAsk ask) {
    if (escrow == null || ask.windowEndMillis() != LeaseAsk.CURRENT) {
      return leaseFromCoordinator(ask, null);
    }
    CounterKey counter = regional(ask);
    return leaseFromEscrow(ask, counter, escrow, refills.get(counter));
  }

  /**
   * Leases nearby.
   *
   * @param refill which may come after this there, and is waited for before anybody far away is
   *     asked in vain
   */
  private CompletionStage<LeasedUnits> leaseFromEscrow(
      LeaseAsk ask,
      CounterKey counter,
      RegionalEscrow escrow,
      @Nullable CompletionStage<Boolean> refill) {
    long asked = time.monotonicNanos();
    return escrow
        .lease(counter, ask.units())
        .handle((grant, failure) -> {
          if (grant == null) {
            listener.escrowFailed(inWords(failure));
            return leaseFromCoordinator(ask, null);
          }
          listener.leasedFromEscrow(ask.units(), grant.units());
          if (grant.units() > 0) {
            return CompletableFuture.completedFuture(spendable(grant, ask));
          }
          return refill == null
              ? leaseFromCoordinator(
                  ask, new ClockReading(grant.nowMillis(), asked, time.monotonicNanos()))
              : refill
                  .handle((_, _) -> leaseFromEscrow(ask, counter, escrow, null))
                  .thenCompose(stage -> stage);
        })
        .thenCompose(stage -> stage);
  }

  private static LeasedUnits spendable(EscrowGrant grant, LeaseAsk ask) {
    long length = ask.window().windowMillis();
    long overBy = grant.beginsMillis() + ClockDrift.longest(length);
    return new LeasedUnits(
        grant.units(),
        grant.windowEndMillis(),
        grant.endsMillis() - grant.nowMillis(),
        overBy - grant.nowMillis(),
        LeasedUnits.UNKNOWN);
  }

  /**
   * Leases far away.
   *
   * @param escrowClock when the escrow was heard of; absent when it is not to be refilled
   */
  private CompletionStage<LeasedUnits> leaseFromCoordinator(
      LeaseAsk ask, @Nullable ClockReading escrowClock) {
    if (tier(ask).regionalOnly() && !health.answers()) {
      probe();
      listener.coordinatorLeftAlone();
      return CompletableFuture.failedFuture(
          new StoreException("the coordinator does not answer, and is left alone", null));
    }
    long wanted = escrowClock == null ? ask.units() : wantedByTheRegion(ask);
    BudgetLease lease =
        new BudgetLease(
            budget(ask), settings.region(), ask.windowEndMillis(), wanted, ask.onDataLoss());
    long asked = time.monotonicNanos();
    return coordinator
        .lease(lease)
        .handle((grant, failure) -> {
          if (grant == null) {
            throw new CompletionException(failed(failure, asked));
          }
          health.succeeded();
          listener.leasedFromCoordinator(wanted, grant.units());
          ClockReading clock =
              new ClockReading(grant.storeNowMillis(), asked, time.monotonicNanos());
          return share(ask, grant, clock, escrowClock);
        });
  }

  private long wantedByTheRegion(LeaseAsk ask) {
    long most = settings.regionalLeases() * Math.min(ask.units(), ask.window().limit());
    return Math.max(ask.units(), Math.min(most, ask.usable()));
  }

  /** Keeps what was asked for, and gives the rest to the region where that is possible. */
  private LeasedUnits share(
      LeaseAsk ask, Grant grant, ClockReading clock, @Nullable ClockReading escrowClock) {
    LeasedUnits all = LeasedUnits.of(grant);
    long rest = grant.units() - ask.units();
    if (rest <= 0 || escrow == null || escrowClock == null) {
      return all;
    }
    long end = grant.windowEndMillis();
    long begin = end - ask.window().windowMillis();
    long begins = escrowClock.latestMillis(clock.surelyReached(begin));
    long ends = escrowClock.earliestMillis(clock.surelyBefore(end));
    if (ends <= begins || ends <= escrowClock.latestMillis(time.monotonicNanos())) {
      return all;
    }
    CounterKey counter = regional(ask);
    CompletionStage<Boolean> refill =
        escrow.refill(new EscrowRefill(counter, nextId(), end, begins, ends, rest));
    refills.put(counter, refill);
    var _ =
        refill.whenComplete((taken, failure) -> {
          refills.remove(counter, refill);
          if (taken == null) {
            listener.escrowFailed(inWords(failure));
          }
          if (taken != null && taken) {
            listener.refilled(rest);
          } else {
            listener.lost(Loss.REFILL, rest);
          }
        });
    return new LeasedUnits(
        ask.units(), end, all.lastsMillis(), all.endsWithinMillis(), all.left() + rest);
  }

  @Override
  public CompletionStage<?> giveBack(LeaseAsk lease, long windowEndMillis, long units) {
    CompletionStage<Long> all =
        escrow == null || !health.answers() // else what others of the region can spend was lost
            ? CompletableFuture.completedFuture(units)
            : escrow
                .release(regional(lease), windowEndMillis)
                .handle((others, _) -> units + (others == null ? 0 : others));
    return all.thenCompose(total ->
        coordinator
            .reconcile(
                new BudgetReturn(
                    budget(lease), settings.region(), nextId(), windowEndMillis, total))
            .whenComplete((taken, _) -> returned(total, taken != null && taken)));
  }

  private void returned(long units, boolean taken) {
    listener.returned(units, taken);
    if (!taken) {
      listener.lost(Loss.RETURN, units);
    }
  }

  private void probe() {
    if (health.isProbeDue()) {
      var _ =
          coordinator
              .health()
              .whenComplete((now, _) -> {
                if (now != null) {
                  health.succeeded();
                }
              });
    }
  }

  private StoreException failed(@Nullable Throwable failure, long askedNanos) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof TermsMismatchException mismatch) {
      health.succeeded();
      String both = inWords(mismatch);
      listener.mismatch(both);
      return new StoreException(both, null);
    }
    health.failed(askedNanos);
    listener.coordinatorFailed(inWords(cause));
    return cause == null
        ? new StoreException("the coordinator answered nothing", null)
        : StoreException.of(cause);
  }

  private static String inWords(@Nullable Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    String message = cause == null ? null : cause.getMessage();
    return message == null ? String.valueOf(cause) : message;
  }

  private String nextId() {
    return settings.node() + '-' + ids.incrementAndGet();
  }
}
