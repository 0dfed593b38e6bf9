package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.lease.AcquireResult;
import io.throttlekit.lease.LeaseCell;
import io.throttlekit.lease.LeaseWaiter;
import io.throttlekit.lease.StoreCell;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.ClaimState.Question;
import java.util.List;
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
  private List<MissingLease> missing = List.of();

  /** Whether its costs are yet to be counted as demand. */
  private boolean first = true;

  private boolean waited;

  /** When it stops waiting for leases and the store; set when it first has to wait. */
  private long endNanos;

  private boolean endKnown;

  /** Whether its wait timeout has expired. */
  private boolean timeIsUp;

  private volatile boolean mayWait = true;

  // What became of its leases, by source: one may answer while the other does not. Charges without
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
    Charge charge = state.charge(0);
    LeaseCell cell = tiers.leases.cell(charge, tier, false);
    if (cell instanceof StoreCell store && store.isTooLateToLease(tiers.time.monotonicNanos())) {
      return decideTheRest();
    }
    state.acquired(0, cell, AcquireResult.SHORT);
    await();
    return null;
  }

  private @Nullable TieredOutcome attempt() {
    if (decideInMemory() && !state.refused()) {
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
    ask(question);
    return null;
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
      goOn();
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

  /** Returns whether it waits for leases, or still may. */
  boolean mayWait() {
    return mayWait;
  }

  /** Returns when it stops waiting; known from its first wait on. */
  long endNanos() {
    return endNanos;
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
    leaveCells(missing);
    goOn();
  }

  private void goOn() {
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

  private void fail(Throwable cause) {
    state.putBackAll();
    callback.failed(StoreException.of(cause));
  }

  private void await() {
    // A request must not hold units of some counters while it waits for others.
    state.putBackAll();
    List<MissingLease> leases = state.missing();
    boolean tooLate;
    synchronized (this) {
      tooLate = timeIsUp;
      if (tooLate) {
        giveUp();
      }
      awaited = tooLate ? 0 : leases.size();
      missing = leases;
    }
    if (tooLate) {
      goOn();
      return;
    }
    if (!waited) {
      waited = true;
      var _ = remainingNanos(tiers.time.monotonicNanos());
      tiers.timeouts.add(this);
    }
    for (MissingLease lease : leases) {
      // A peek needs one unit.
      tiers.leases.lease(lease.cell(), Math.max(1, lease.cost()), lease.onDataLoss(), this);
    }
    boolean timedOut;
    synchronized (this) {
      timedOut = timeIsUp;
    }
    if (timedOut) { // the timer may have been faster than this loop
      leaveCells(leases);
    }
  }

  /** Leaves the cells after the timeout, so that they do not retain an answered request. */
  private void leaveCells(List<MissingLease> leases) {
    leases.forEach(lease -> lease.cell().forget(this));
  }

  /** Decides the charges that need no store; returns whether leases are missing. */
  private boolean decideInMemory() {
    long now = tiers.time.monotonicNanos();
    tiers.leases.checkClock(now);
    boolean lacks = false;
    state.clear();
    for (int c = 0; c < state.claims(); c++) {
      switch (state.claim(c).tier()) {
        case Tier.Strict strict -> {}
        case Tier.CachedDeny cachedDeny -> refuseFromCache(c, now);
        case Tier.Leasing leasing -> lacks |= spend(c, leasing, now);
      }
    }
    first = false;
    return lacks;
  }

  private void refuseFromCache(int claim, long now) {
    for (int i = state.start(claim); i < state.end(claim); i++) {
      Decision refusal = tiers.denials.refusal(state.charge(i), now);
      if (refusal != null) {
        state.decide(i, refusal, DecidedBy.CACHED_DENIAL);
      }
    }
  }

  private boolean spend(int claim, Tier.Leasing tier, long now) {
    DataLoss onDataLoss = state.claim(claim).claim().onDataLoss();
    boolean global = tier instanceof Tier.Global;
    boolean mayLease = global ? !globalFails() : regionFailure == null && regionLate == 0;
    boolean lacks = false;
    for (int i = state.start(claim); i < state.end(claim); i++) {
      Charge charge = state.charge(i);
      if (charge.cost() <= 0 && !global) {
        continue; // only the store knows what a refund or a peek needs
      }
      FixedWindow window = (FixedWindow) charge.algorithm();
      LeaseCell cell;
      AcquireResult result;
      do { // a cell that was retired after the look-up is replaced by its successor
        cell = tiers.leases.cell(charge, tier, first);
        result = cell.tryAcquire(window, charge.cost(), first, now);
      } while (result.kind() == AcquireResult.Kind.RETIRED);
      Decision decision = result.decision();
      if (decision != null) {
        state.decide(i, decision, global ? DecidedBy.GLOBAL_LEASE : DecidedBy.LEASE);
      }
      if (result.kind() == AcquireResult.Kind.TAKEN) {
        state.acquired(i, cell, result);
        tiers.leases.refill(cell, onDataLoss, now);
      } else if (result.kind() == AcquireResult.Kind.SHORT && mayLease) {
        state.acquired(i, cell, result);
        lacks = true;
      }
    }
    return lacks;
  }

  private boolean globalFails() {
    return globalFailure != null || globalLate >= MAX_LATE;
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

  private static StoreException orTimeout(@Nullable StoreException why) {
    return why != null ? why : StoreException.late("deadline exceeded while waiting for a lease");
  }

  private void ask(Question question) {
    long sent = tiers.time.monotonicNanos();
    // A charge whose lease failed is decided by its outage policy, not by another wait for the
    // store.
    if (regionFailure != null && lacksLease(question)) {
      answered(question, null, regionFailure, 0);
      return;
    }
    tiers
        .store
        .acquire(question.claims(), remainingNanos(sent))
        .whenComplete((outcome, failure) -> answered(question, outcome, failure, sent));
  }

  private boolean lacksLease(Question question) {
    for (int c = 0; c < state.claims(); c++) {
      boolean leased = state.claim(c).tier() instanceof Tier.Leased;
      for (int i = state.start(c); leased && i < state.end(c); i++) {
        if (question.charges().contains(i)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Answers the request with the store's outcome, or by the outage policies. */
  private void answered(
      Question question, @Nullable Outcome outcome, @Nullable Throwable failure, long sentNanos) {
    TieredOutcome settled;
    try {
      if (outcome != null) {
        learn(question, outcome, sentNanos);
        state.decide(question.charges(), outcome.decisions(), DecidedBy.STORE);
      } else if (!state.decideByOutage()) {
        fail(failure == null ? new IllegalStateException("no outcome") : failure);
        return;
      }
      settled = settled();
    } catch (RuntimeException unexpected) { // otherwise the request would never be answered
      fail(unexpected);
      return;
    }
    callback.decided(settled);
  }

  private void learn(Question question, Outcome outcome, long sentNanos) {
    for (int n = 0; n < question.charges().size(); n++) {
      Charge charge = state.charge(question.charges().get(n));
      // A refund frees units that cells and refusals believe to be used up.
      if (charge.cost() < 0) {
        tiers.leases.reopen(charge.key());
      }
      if (isAlone(question, n)) {
        tiers.denials.learn(charge, outcome.decisions().get(n), sentNanos);
      }
    }
  }

  /** Returns whether no other charge of the question shares the counter. */
  private boolean isAlone(Question question, int index) {
    CounterKey key = state.charge(question.charges().get(index)).key();
    for (int n = 0; n < question.charges().size(); n++) {
      if (n != index && state.charge(question.charges().get(n)).key().equals(key)) {
        return false;
      }
    }
    return true;
  }

  private TieredOutcome settled() {
    TieredOutcome outcome = state.settle();
    outcome.decidedBy().forEach(tiers.listener::decided);
    return outcome;
  }
}
