package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.TimeSource;
import io.throttlekit.once.Answered;
import io.throttlekit.once.Clocks;
import io.throttlekit.once.OnceCalls;
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.RootCause;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.LeaseSource;
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
 * The source from which the processes of a region lease globally shared units: the region's escrow,
 * and the coordinator when the escrow has none.
 *
 * <p>A process keeps the units that it requested from the coordinator's grant, and puts the rest
 * into the escrow, once. Returned units go to the coordinator, together with the escrow's remaining
 * units of that window. Each of these calls is repeated until its answer is known or its window has
 * ended ({@link OnceCalls}), and every grant counts, however late it arrives.
 *
 * <p>Thread-safe and non-blocking. Closes neither the escrow nor the coordinator.
 */
public final class Federation implements LeaseSource {
  private final GlobalCoordinator coordinator;
  private final @Nullable RegionalEscrow escrow;
  private final TimeSource time;
  private final FederationSettings settings;
  private final FederationListener listener;

  /** The first retry of a call without an answer; doubled each time. */
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** The wait for an escrow, which is nearby: after this time the coordinator is called instead. */
  private static final long ESCROW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final CoordinatorHealth health;
  private final AtomicLong ids = new AtomicLong();
  private final OnceCalls<CounterKey, EscrowGrant> escrowLeases;
  private final OnceCalls<CounterKey, LeaseGrant> leases;
  private final OnceCalls<CounterKey, LeaseGrant> leasesAhead;
  private final OnceCalls<String, Boolean> refills;
  private final UnitReturns returns;

  /** Refills of the escrow by this process that are in flight. */
  private final ConcurrentMap<CounterKey, CompletionStage<?>> refilling = new ConcurrentHashMap<>();

  /**
   * Creates the federation of one process.
   *
   * @param escrow absent where a region is one process
   * @param clocks its timer repeats calls
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
    // Each kind of call has a sender of its own, because a store keeps one last number per sender.
    long sender = CallId.newSender();
    this.escrowLeases =
        calls(clocks, sender, ESCROW_NANOS, ESCROW_NANOS, EscrowGrant::windowEndMillis);
    long wait = MonotonicSpan.nanos(settings.waitMillis());
    this.leases = calls(clocks, sender + 1, RETRY_NANOS, wait, LeaseGrant::windowEndMillis);
    this.leasesAhead = calls(clocks, sender + 2, RETRY_NANOS, wait, LeaseGrant::windowEndMillis);
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

  private static long windowNanos(LeaseRequest request) {
    return MonotonicSpan.nanos(request.window().windowMillis());
  }

  /** Returns the budget that a lease is for. */
  private static Budget budget(LeaseRequest request) {
    return new Budget(request.key(), request.window(), terms(request));
  }

  private static Terms terms(LeaseRequest request) {
    Terms terms = request.terms();
    if (terms == null) {
      throw new IllegalArgumentException(
          "only limits with scope: global are leased from a federation");
    }
    return terms;
  }

  /**
   * Returns the counter in the region's escrow, of its own for each tenant: regions whose escrows
   * share a store have separate ones.
   */
  private CounterKey regional(LeaseRequest request) {
    CounterKey leaser = request.callKey();
    return leaser.inScope(settings.region() + '/' + leaser.scope());
  }

  /** {@inheritDoc} A mismatch of terms between regions is a failure, too. */
  @Override
  public CompletionStage<Answered<LeaseGrant>> lease(
      LeaseRequest request, Consumer<Answered<LeaseGrant>> late) {
    var _ = terms(request); // fails before a call is sent
    // A lease ahead goes to the coordinator: the escrow serves only current windows.
    if (escrow == null || request.isAhead()) {
      return leaseFromCoordinator(request, null, late);
    }
    CounterKey counter = regional(request);
    return leaseFromEscrow(request, counter, escrow, refilling.get(counter), late);
  }

  /**
   * Leases from the escrow.
   *
   * @param refill a refill in flight, which may bring units: waited for before the coordinator is
   *     requested
   */
  private CompletionStage<Answered<LeaseGrant>> leaseFromEscrow(
      LeaseRequest request,
      CounterKey counter,
      RegionalEscrow escrow,
      @Nullable CompletionStage<?> refill,
      Consumer<Answered<LeaseGrant>> late) {
    return escrowLeases
        .call(
            counter,
            windowNanos(request),
            id -> escrow.lease(counter, request.units(), id),
            answer -> {
              listener.leasedFromEscrow(request.units(), answer.value().units());
              if (answer.value().units() > 0) {
                late.accept(spendable(answer, request));
              }
            })
        .handle((answer, failure) -> {
          if (answer == null) {
            listener.escrowFailed(messageOf(failure));
            return leaseFromCoordinator(request, null, late);
          }
          EscrowGrant grant = answer.value();
          listener.leasedFromEscrow(request.units(), grant.units());
          if (grant.units() > 0) {
            return CompletableFuture.completedFuture(spendable(answer, request));
          }
          // Waits for one refill at most: the second attempt passes none.
          return refill == null
              ? leaseFromCoordinator(
                  request,
                  new ClockReading(grant.nowMillis(), answer.sentNanos(), time.monotonicNanos()),
                  late)
              : refill
                  .handle((_, _) -> leaseFromEscrow(request, counter, escrow, null, late))
                  .thenCompose(stage -> stage);
        })
        .thenCompose(stage -> stage);
  }

  private static Answered<LeaseGrant> spendable(
      Answered<EscrowGrant> answer, LeaseRequest request) {
    EscrowGrant grant = answer.value();
    long length = request.window().windowMillis();
    // The window began at the latest then, so by this time it has ended.
    long overBy = grant.beginsMillis() + MonotonicSpan.longest(length);
    LeaseGrant units =
        new LeaseGrant(
            grant.units(),
            grant.windowEndMillis(),
            grant.endsMillis() - grant.nowMillis(),
            overBy - grant.nowMillis(),
            LeaseGrant.UNKNOWN);
    return new Answered<>(units, answer.sentNanos());
  }

  /**
   * Leases from the coordinator.
   *
   * @param escrowClock a reading of the escrow's clock; absent if the escrow is not to be refilled
   */
  private CompletionStage<Answered<LeaseGrant>> leaseFromCoordinator(
      LeaseRequest request,
      @Nullable ClockReading escrowClock,
      Consumer<Answered<LeaseGrant>> late) {
    if (request.regionalOnly() && !health.answers()) {
      probe();
      listener.coordinatorBreakerOpen();
      return CompletableFuture.failedFuture(
          new StoreException("circuit breaker open: the coordinator does not answer", null));
    }
    boolean ahead = request.isAhead();
    long wanted = escrowClock == null ? request.units() : wantedByTheRegion(request);
    long sentNanos = time.monotonicNanos();
    return (ahead ? leasesAhead : leases)
        .call(
            request.callKey(),
            windowNanos(request),
            id -> coordinator.lease(lease(request, wanted, id)),
            answer -> late.accept(granted(request, wanted, answer, escrowClock, late)))
        .handle((answer, failure) -> {
          if (answer == null) {
            // handle() can fail its stage only by an exception.
            throw new CompletionException(failed(failure, sentNanos));
          }
          return granted(request, wanted, answer, escrowClock, late);
        });
  }

  private BudgetLease lease(LeaseRequest request, long wanted, CallId id) {
    return new BudgetLease(
        budget(request),
        settings.region(),
        request.windowEndMillis(),
        wanted,
        request.onDataLoss(),
        id,
        request.tenant());
  }

  private Answered<LeaseGrant> granted(
      LeaseRequest request,
      long wanted,
      Answered<LeaseGrant> answer,
      @Nullable ClockReading escrowClock,
      Consumer<Answered<LeaseGrant>> late) {
    health.succeeded();
    listener.leasedFromCoordinator(wanted, answer.value().units());
    LeaseGrant kept = share(request, answer, escrowClock, late);
    return new Answered<>(kept, answer.sentNanos());
  }

  /**
   * Returns how many units to lease for the whole region. The units that requests wait for are not
   * multiplied: in the first windows of a key that would give one region most of the budget, more
   * than it can spend before the window ends.
   */
  private long wantedByTheRegion(LeaseRequest request) {
    long size = Math.min(request.size(), request.window().limit()); // no grant is larger
    long most = request.units() + (settings.regionalLeases() - 1) * size;
    return Math.max(request.units(), Math.min(most, request.usable()));
  }

  /** Keeps the requested units and puts the rest into the escrow where possible. */
  private LeaseGrant share(
      LeaseRequest request,
      Answered<LeaseGrant> answer,
      @Nullable ClockReading escrowClock,
      Consumer<Answered<LeaseGrant>> late) {
    LeaseGrant grant = answer.value();
    long rest = grant.units() - request.units();
    if (rest <= 0 || escrow == null || escrowClock == null) {
      return grant;
    }
    ClockReading clock =
        new ClockReading(grant.storeNowMillis(), answer.sentNanos(), time.monotonicNanos());
    long end = grant.windowEndMillis();
    long begin = end - request.window().windowMillis();
    long begins = escrowClock.latestMillis(clock.surelyReached(begin));
    long ends = escrowClock.earliestMillis(clock.surelyBefore(end));
    // The spendable time may be empty after drift: then this process spends the units itself.
    if (ends <= begins || ends <= escrowClock.latestMillis(time.monotonicNanos())) {
      return grant;
    }
    CounterKey counter = regional(request);
    String id = nextId();
    refill(
        new EscrowRefill(counter, id, end, begins, ends, rest),
        windowNanos(request),
        () -> late.accept(new Answered<>(grant.part(rest), answer.sentNanos())));
    return grant.part(request.units());
  }

  /**
   * Puts units into the escrow.
   *
   * @param keep credits them to this process if the escrow certainly did not receive them
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
            (answer, mayHaveActed) -> {
              if (answer != null) {
                refilled(units, answer.value());
              } else if (mayHaveActed) {
                // The escrow may hold the units already: spending them here, too, could exceed the
                // limit.
                listener.lost(Loss.REFILL, units);
              } else {
                keep.run();
              }
            });
    refilling.put(refill.key(), first);
    var _ =
        first.whenComplete((answer, failure) -> {
          refilling.remove(refill.key(), first);
          if (answer == null) {
            listener.escrowFailed(messageOf(failure));
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
  public CompletionStage<?> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    // Without the coordinator nothing can be leased; the region's other processes spend the escrow.
    CounterKey inEscrow = health.answers() ? regional(lease) : null;
    UnitReturns.Leased from = new UnitReturns.Leased(budget(lease), lease.tenant());
    return returns.returnUnits(from, inEscrow, windowEndMillis, units);
  }

  private void probe() {
    if (health.isProbeDue()) {
      var _ = coordinator.health().thenRun(health::succeeded);
    }
  }

  private StoreException failed(@Nullable Throwable failure, long sentNanos) {
    Throwable cause = StoreException.causeOf(failure);
    TermsMismatchException mismatch = mismatch(cause);
    if (mismatch != null) {
      health.succeeded(); // a mismatch is an answer
      String both = messageOf(mismatch);
      listener.mismatch(both);
      return new StoreException(both, null);
    }
    health.failed(sentNanos);
    listener.coordinatorFailed(messageOf(cause));
    return cause == null
        ? new StoreException("the coordinator answered nothing", null)
        : StoreException.of(cause);
  }

  /** Returns the mismatch that failed a call; it is a cause if an attempt failed before. */
  private static @Nullable TermsMismatchException mismatch(@Nullable Throwable failure) {
    return RootCause.causes(failure)
        .filter(TermsMismatchException.class::isInstance)
        .map(TermsMismatchException.class::cast)
        .findFirst()
        .orElse(null);
  }

  private static String messageOf(@Nullable Throwable failure) {
    Throwable cause = StoreException.causeOf(failure);
    String message = cause == null ? null : cause.getMessage();
    return message == null ? String.valueOf(cause) : message;
  }

  private String nextId() {
    return settings.node() + '-' + ids.incrementAndGet();
  }
}
