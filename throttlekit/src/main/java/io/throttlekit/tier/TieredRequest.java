package io.throttlekit.tier;

import io.throttlekit.lease.AcquireResult;
import io.throttlekit.lease.LeaseCell;
import io.throttlekit.lease.LeaseWaiter;
import io.throttlekit.lease.StoreCell;
import io.throttlekit.lease.Tier;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreException.Part;
import io.throttlekit.tier.ClaimState.Question;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way through the tiers: decided in memory as far as possible, then by the
 * store.
 *
 * <p>A request waits for the leases that its charges lack, holds no units meanwhile, and tries
 * again when all of them have ended. One thread works on it at a time; the lock is for the timer,
 * which may end the wait.
 */
final class TieredRequest implements LeaseWaiter {
  /** Attempts whose global leases all arrive too late; bounds the round trips of one request. */
  private static final int MAX_LATE = 3;

  private final Tiers tiers;
  private final OutcomeCallback callback;
  private final ClaimState state;

  /** Leases that the request waits for; 0 while a thread works on it. */
  private int awaited;

  /** Their cells. */
  private Set<LeaseCell> awaitedCells = Set.of();

  /** Whether its costs are yet to be counted as demand. */
  private boolean first = true;

  /** When it stops waiting for leases and the store; set when it first has to wait. */
  private long endNanos;

  private boolean endKnown;

  /** Whether its wait timeout has expired. */
  private boolean timeIsUp;

  private volatile boolean mayWait = true;

  // The results of its leases, by source: one may answer while the other does not. Charges without
  // units are decided by the store if a lease came too late, by the outage policy if none came.
  private @Nullable StoreException regionFailure;
  private @Nullable StoreException globalFailure;
  private int regionLate;
  private int globalLate;

  TieredRequest(Tiers tiers, List<TieredClaim> claims, OutcomeCallback callback) {
    this.tiers = tiers;
    this.callback = callback;
    this.state = new ClaimState(tiers, claims);
  }

  /** Returns the outcome when memory decides; else null, and the callback is notified. */
  @Nullable TieredOutcome start() {
    try {
      return attempt();
    } catch (RuntimeException refused) { // by the store: too many charges
      mayWait = false;
      state.putBackAll();
      throw refused;
    }
  }

  /**
   * Continues with the only charge of the request after its cell had too few units and counted its
   * demand: leases more, or calls the store if a lease would come too late.
   */
  @Nullable TieredOutcome startAfterMiss(Tier.Leasing tier) {
    first = false;
    LeaseCell cell = tiers.leases.cell(state.charge(0), tier, false);
    if (cell instanceof StoreCell store && store.isTooLateToLease(tiers.time.monotonicNanos())) {
      return decideTheRest();
    }
    state.acquired(0, AcquireResult.lacking(cell));
    await();
    return null;
  }

  private @Nullable TieredOutcome attempt() {
    boolean mayLease = regionFailure == null && regionLate == 0;
    boolean lacks = state.decideInMemory(first, mayLease, !globalFails());
    first = false;
    if (lacks && !state.refused()) {
      await();
      return null;
    }
    return decideTheRest();
  }

  /** Decides what memory did not: by the outage policies, or by the store. */
  private @Nullable TieredOutcome decideTheRest() {
    mayWait = false;
    if (globalFails() && !state.refused() && !state.decideGlobalByOutage()) {
      fail(orTimeout(globalFailure));
      return null;
    }
    Question question = state.question();
    if (question == null) {
      return settled();
    }
    requestStore(question);
    return null;
  }

  private boolean globalFails() {
    return globalFailure != null || globalLate >= MAX_LATE;
  }

  private void await() {
    // A request must not hold units of some counters while it waits for others.
    state.putBackAll();
    Map<LeaseCell, Integer> missing = state.missing();
    boolean tooLate;
    synchronized (this) {
      tooLate = timeIsUp;
      if (tooLate) {
        giveUp();
      }
      awaited = tooLate ? 0 : missing.size();
      awaitedCells = missing.keySet();
    }
    if (tooLate) {
      resume();
      return;
    }
    if (!endKnown) { // its first wait
      var _ = remainingNanos(tiers.time.monotonicNanos());
      tiers.timeouts.add(this);
    }
    missing.forEach((cell, charge) -> {
      long units = Math.max(1, state.charge(charge).cost()); // a peek needs one unit
      tiers.leases.lease(cell, units, state.claimOf(charge).onDataLoss(), this);
    });
    boolean timedOut;
    synchronized (this) {
      timedOut = timeIsUp;
    }
    if (timedOut) { // the timer may have been faster than this loop
      leave(missing.keySet());
    }
  }

  /** Leaves the cells after the timeout, so that they do not retain an answered request. */
  private void leave(Set<LeaseCell> cells) {
    cells.forEach(cell -> cell.forget(this));
  }

  @Override
  public void leaseEnded(LeaseCell cell, End end, @Nullable StoreException failure) {
    boolean last;
    synchronized (this) {
      boolean global = cell.tier() instanceof Tier.Global;
      if (end == End.FAILED) {
        failed(global, failure);
      } else if (end == End.LATE) {
        globalLate += global ? 1 : 0;
        regionLate += global ? 0 : 1;
      }
      last = awaited == 1;
      awaited = Math.max(0, awaited - 1); // 0 if the timeout has ended the wait
    }
    if (last) {
      resume();
    }
  }

  private void failed(boolean global, @Nullable StoreException failure) {
    if (global) {
      globalFailure = failure != null ? failure : orTimeout(globalFailure);
    } else {
      regionFailure = failure != null ? failure : orTimeout(regionFailure);
    }
  }

  /** Counts the leases that are still in flight as failed. */
  private void giveUp() {
    failed(true, null);
    failed(false, null);
  }

  private static StoreException orTimeout(@Nullable StoreException why) {
    return why != null ? why : StoreException.late("deadline exceeded while waiting for a lease");
  }

  /** Returns whether it waits for leases, or still may. */
  boolean mayWait() {
    return mayWait;
  }

  /** Returns when it stops waiting; known from its first wait on. */
  long endNanos() {
    return endNanos;
  }

  /** Returns the remaining wait. The caller's deadline is read once, before the first wait. */
  private long remainingNanos(long nowNanos) {
    if (!endKnown) {
      endKnown = true;
      // A deadline that has passed is negative.
      endNanos = nowNanos + Math.clamp(callback.waitTimeoutNanos(), 0, tiers.maxWaitNanos);
    }
    return endNanos - nowNanos;
  }

  /** Ends its wait, if it waits. */
  void timeOut() {
    synchronized (this) {
      timeIsUp = true;
      if (awaited == 0) {
        return; // the working thread reads timeIsUp before it waits
      }
      awaited = 0;
      giveUp();
    }
    leave(awaitedCells);
    resume();
  }

  private void resume() {
    TieredOutcome outcome;
    try {
      outcome = attempt();
    } catch (RuntimeException unexpected) { // otherwise the request would never be answered
      mayWait = false;
      fail(unexpected);
      return;
    }
    if (outcome != null) {
      callback.decided(outcome);
    }
  }

  private void requestStore(Question question) {
    long sent = tiers.time.monotonicNanos();
    // A charge whose lease failed is decided by its outage policy, not by another wait for the
    // store. The others may be in a store that answers.
    StoreException failed = regionFailure;
    Set<Integer> lacking = failed == null ? Set.of() : lackingLeases(question);
    if (failed != null && !lacking.isEmpty()) {
      boolean all = lacking.size() == question.charges().size() || remainingNanos(sent) <= 0;
      Part part = new Part(lacking, Map.of());
      answered(question, null, all ? failed : failed.ofPart(part), sent);
      return;
    }
    tiers
        .store
        .acquire(question.claims(), remainingNanos(sent))
        .whenComplete((outcome, failure) -> answered(question, outcome, failure, sent));
  }

  /** Returns the numbers of the question's charges that leased units should have decided. */
  private Set<Integer> lackingLeases(Question question) {
    return IntStream.range(0, question.charges().size())
        .filter(n -> state.claimOf(question.charges().get(n)).tier() instanceof Tier.Leased)
        .boxed()
        .collect(Collectors.toSet());
  }

  /** Answers the request with the store's outcome, or by the outage policies. */
  private void answered(
      Question question, @Nullable Outcome outcome, @Nullable Throwable failure, long sentNanos) {
    TieredOutcome settled;
    try {
      Part part = failure == null ? null : StoreException.of(failure).part();
      if (outcome != null) {
        state.decideByStore(question, outcome, sentNanos);
      } else if (part == null
          ? !state.decideByOutage()
          : !state.decideWithout(question, part, sentNanos)) {
        fail(failure == null ? new IllegalStateException("no outcome") : failure);
        return;
      }
      Question rest = part == null ? null : state.question();
      if (rest != null) { // of a store that has not failed
        requestStore(rest);
        return;
      }
      settled = settled();
    } catch (RuntimeException unexpected) { // otherwise the request would never be answered
      fail(unexpected);
      return;
    }
    callback.decided(settled);
  }

  private TieredOutcome settled() {
    TieredOutcome outcome = state.settle();
    outcome.decidedBy().forEach(tiers.listener::decided);
    return outcome;
  }

  private void fail(Throwable cause) {
    state.putBackAll();
    callback.failed(StoreException.of(cause));
  }
}
