package io.throttlekit.federation;

import io.throttlekit.ClockDrift;
import io.throttlekit.CounterKey;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.TimeSource;
import io.throttlekit.once.Answered;
import io.throttlekit.once.Clocks;
import io.throttlekit.once.LateAnswers;
import io.throttlekit.once.OnceCalls;
import io.throttlekit.store.CallId;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Where the processes of a region lease what all regions share: in the region's escrow, and where
 * that has nothing, from the coordinator.
 *
 * <p>Of what the coordinator grants a process keeps what it asked for, and puts the rest into the
 * escrow, once. What comes back goes to the coordinator, with what the escrow still has of that
 * window. Every one of these calls is repeated until its answer is known or its window is over
 * ({@link OnceCalls}), and every grant counts, however late it comes.
 *
 * <p>Thread-safe; nothing blocks. Closes neither of the two.
 */
public final class Federation implements LeaseSource {
  private final GlobalCoordinator coordinator;
  private final @Nullable RegionalEscrow escrow;
  private final TimeSource time;
  private final FederationSettings settings;
  private final FederationListener listener;
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** The region's escrow is near: if it is silent for so long, the coordinator is asked instead. */
  private static final long ESCROW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final CoordinatorHealth health;
  private final AtomicLong ids = new AtomicLong();
  private final OnceCalls<CounterKey, EscrowGrant> escrowLeases;
  private final OnceCalls<CounterKey, Grant> leases;
  private final OnceCalls<CounterKey, Grant> leasesAhead;
  private final OnceCalls<String, Boolean> refills;
  private final UnitReturns returns;

  /** Units of this process that are on their way into the escrow. */
  private final ConcurrentMap<CounterKey, CompletionStage<?>> refilling = new ConcurrentHashMap<>();

  /**
   * The federation as one process sees it.
   *
   * @param escrow absent where a region is one process
   * @param clocks calls are repeated by its alarm
   */
  public Federation(
      GlobalCoordinator coordinator,
      @Nullable RegionalEscrow escrow,
      Clocks clocks,
      FederationSettings settings,
      FederationListener listener) {
    this.coordinator = coordinator;
    this.escrow = escrow;
    this.time = clocks.time();
    this.settings = settings;
    this.listener = listener;
    this.health = new CoordinatorHealth(time, settings.probeEveryMillis(), listener);
    long sender = CallId.newSender();
    this.escrowLeases =
        calls(clocks, sender, ESCROW_NANOS, ESCROW_NANOS, EscrowGrant::windowEndMillis);
    long wait = MonotonicSpan.nanos(settings.waitMillis());
    this.leases = calls(clocks, sender + 1, RETRY_NANOS, wait, Grant::windowEndMillis);
    this.leasesAhead = calls(clocks, sender + 2, RETRY_NANOS, wait, Grant::windowEndMillis);
    this.refills = calls(clocks, sender + 3, RETRY_NANOS, wait, _ -> 0);
    this.returns =
        new UnitReturns(
            coordinator,
            escrow,
            settings.region(),
            this::nextId,
            clocks,
            new OnceCalls.Settings(sender + 4, RETRY_NANOS, wait, true),
            listener);
  }

  private static <K, T> OnceCalls<K, T> calls(
      Clocks clocks, long sender, long retryNanos, long waitNanos, ToLongFunction<T> windowOf) {
    return new OnceCalls<>(
        new OnceCalls.Settings(sender, retryNanos, waitNanos, false), clocks, windowOf);
  }

  private static long windowNanos(LeaseAsk ask) {
    return MonotonicSpan.nanos(ask.window().windowMillis());
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

  /** {@inheritDoc} A mismatch between regions is a failure, too. */
  @Override
  public CompletionStage<Answered<LeasedUnits>> lease(
      LeaseAsk ask, Consumer<Answered<LeasedUnits>> late) {
    if (escrow == null || ask.windowEndMillis() != LeaseAsk.CURRENT) {
      return leaseFromCoordinator(ask, null, late);
    }
    CounterKey counter = regional(ask);
    return leaseFromEscrow(ask, counter, escrow, refilling.get(counter), late);
  }

  /**
   * Leases nearby.
   *
   * @param refill which may come after this there, and is waited for before the coordinator is
   *     asked in vain
   */
  private CompletionStage<Answered<LeasedUnits>> leaseFromEscrow(
      LeaseAsk ask,
      CounterKey counter,
      RegionalEscrow escrow,
      @Nullable CompletionStage<?> refill,
      Consumer<Answered<LeasedUnits>> late) {
    return escrowLeases
        .call(
            counter,
            windowNanos(ask),
            id -> escrow.lease(counter, ask.units(), id),
            answer -> {
              listener.leasedFromEscrow(ask.units(), answer.value().units());
              if (answer.value().units() > 0) {
                late.accept(spendable(answer, ask));
              }
            })
        .handle((answer, failure) -> {
          if (answer == null) {
            listener.escrowFailed(inWords(failure));
            return leaseFromCoordinator(ask, null, late);
          }
          EscrowGrant grant = answer.value();
          listener.leasedFromEscrow(ask.units(), grant.units());
          if (grant.units() > 0) {
            return CompletableFuture.completedFuture(spendable(answer, ask));
          }
          return refill == null
              ? leaseFromCoordinator(
                  ask,
                  new ClockReading(grant.nowMillis(), answer.askedNanos(), time.monotonicNanos()),
                  late)
              : refill
                  .handle((_, _) -> leaseFromEscrow(ask, counter, escrow, null, late))
                  .thenCompose(stage -> stage);
        })
        .thenCompose(stage -> stage);
  }

  private static Answered<LeasedUnits> spendable(Answered<EscrowGrant> answer, LeaseAsk ask) {
    EscrowGrant grant = answer.value();
    long length = ask.window().windowMillis();
    long overBy = grant.beginsMillis() + ClockDrift.longest(length);
    LeasedUnits units =
        new LeasedUnits(
            grant.units(),
            grant.windowEndMillis(),
            grant.endsMillis() - grant.nowMillis(),
            overBy - grant.nowMillis(),
            LeasedUnits.UNKNOWN);
    return new Answered<>(units, answer.askedNanos());
  }

  /**
   * Leases far away.
   *
   * @param escrowClock when the escrow answered; absent when it is not to be refilled
   */
  private CompletionStage<Answered<LeasedUnits>> leaseFromCoordinator(
      LeaseAsk ask, @Nullable ClockReading escrowClock, Consumer<Answered<LeasedUnits>> late) {
    if (tier(ask).regionalOnly() && !health.answers()) {
      probe();
      listener.coordinatorLeftAlone();
      return CompletableFuture.failedFuture(
          new StoreException("the coordinator does not answer, and is left alone", null));
    }
    boolean ahead = ask.windowEndMillis() != LeaseAsk.CURRENT;
    long wanted = escrowClock == null ? ask.units() : wantedByTheRegion(ask);
    long asked = time.monotonicNanos();
    return (ahead ? leasesAhead : leases)
        .call(
            ask.key(),
            windowNanos(ask),
            id -> coordinator.lease(lease(ask, wanted, id)),
            answer -> late.accept(granted(ask, wanted, answer, escrowClock, late)))
        .handle((answer, failure) -> {
          if (answer == null) {
            throw new CompletionException(failed(failure, asked));
          }
          return granted(ask, wanted, answer, escrowClock, late);
        });
  }

  private BudgetLease lease(LeaseAsk ask, long wanted, CallId id) {
    return new BudgetLease(
        budget(ask), settings.region(), ask.windowEndMillis(), wanted, ask.onDataLoss(), id);
  }

  private Answered<LeasedUnits> granted(
      LeaseAsk ask,
      long wanted,
      Answered<Grant> answer,
      @Nullable ClockReading escrowClock,
      Consumer<Answered<LeasedUnits>> late) {
    health.succeeded();
    listener.leasedFromCoordinator(wanted, answer.value().units());
    LeasedUnits kept = share(ask, answer, escrowClock, late);
    return new Answered<>(kept, answer.askedNanos());
  }

  /**
   * What waits here is not multiplied: in the first windows of a key that would give one region
   * most of the budget, more than it can spend before the window ends.
   */
  private long wantedByTheRegion(LeaseAsk ask) {
    long size = Math.min(ask.size(), ask.window().limit());
    long most = ask.units() + (settings.regionalLeases() - 1) * size;
    return Math.max(ask.units(), Math.min(most, ask.usable()));
  }

  /** Keeps what was asked for, and gives the rest to the region where that is possible. */
  private LeasedUnits share(
      LeaseAsk ask,
      Answered<Grant> answer,
      @Nullable ClockReading escrowClock,
      Consumer<Answered<LeasedUnits>> late) {
    Grant grant = answer.value();
    LeasedUnits all = LeasedUnits.of(grant);
    long rest = grant.units() - ask.units();
    if (rest <= 0 || escrow == null || escrowClock == null) {
      return all;
    }
    ClockReading clock =
        new ClockReading(grant.storeNowMillis(), answer.askedNanos(), time.monotonicNanos());
    long end = grant.windowEndMillis();
    long begin = end - ask.window().windowMillis();
    long begins = escrowClock.latestMillis(clock.surelyReached(begin));
    long ends = escrowClock.earliestMillis(clock.surelyBefore(end));
    if (ends <= begins || ends <= escrowClock.latestMillis(time.monotonicNanos())) {
      return all;
    }
    CounterKey counter = regional(ask);
    String id = nextId();
    refill(
        new EscrowRefill(counter, id, end, begins, ends, rest),
        windowNanos(ask),
        () -> late.accept(new Answered<>(all.ofWhich(rest), answer.askedNanos())));
    return all.ofWhich(ask.units());
  }

  /**
   * Puts units into the escrow.
   *
   * @param keep takes them back when the escrow cannot have them
   */
  private void refill(EscrowRefill refill, long countsNanos, Runnable keep) {
    RegionalEscrow there = escrow;
    if (there == null) {
      return;
    }
    long units = refill.units();
    CompletionStage<Answered<Boolean>> first =
        refills.call(
            refill.id(),
            countsNanos,
            _ -> there.refill(refill),
            new LateAnswers<>() {
              @Override
              public void answered(Answered<Boolean> answer) {
                refilled(units, answer.value());
              }

              @Override
              public void ended(boolean mayHaveActed) {
                if (mayHaveActed) {
                  listener.lost(Loss.REFILL, units);
                } else {
                  keep.run();
                }
              }
            });
    refilling.put(refill.key(), first);
    var _ =
        first.whenComplete((answer, failure) -> {
          refilling.remove(refill.key(), first);
          if (answer == null) {
            listener.escrowFailed(inWords(failure));
          } else {
            refilled(units, answer.value());
          }
        });
  }

  private void refilled(long units, boolean taken) {
    if (taken) {
      listener.refilled(units);
    } else {
      listener.lost(Loss.REFILL, units);
    }
  }

  @Override
  public CompletionStage<?> giveBack(LeaseAsk lease, long windowEndMillis, long units) {
    // While the coordinator does not answer, the region's other processes can spend what is there.
    CounterKey inEscrow = health.answers() ? regional(lease) : null;
    return returns.giveBack(lease.key(), budget(lease), inEscrow, windowEndMillis, units);
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
