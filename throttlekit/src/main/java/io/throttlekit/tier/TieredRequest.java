package io.throttlekit.tier;

import io.throttlekit.Charge;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.ClaimState.Question;
import io.throttlekit.tier.LeaseWaiter.End;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way through the tiers: decided in memory as far as possible, then by the
 * store.
 *
 * <p>A request waits for the leases that its charges lack, holds no units meanwhile, and starts
 * again when all of them have ended. One thread works on it at a time; the lock is for the timer,
 * which may end the wait.
 */
final class TieredRequest {
  /** Attempts whose global leases all arrive too late; bounds the round trips of one request. */
  private static final int MAX_LATE = 3;

  private final Tiers tiers;
  private final Tiers.Later later;
  private final ClaimState standing;

  private final AcquiredUnits taken;
  private final OutageDecisions outages;

  /** Leases that the request waits for; 0 while a thread works on it. */
  private int awaited;

  /** Whether its costs are yet to be counted as demand. */
  private boolean first = true;

  private boolean waited;

  /** When it stops waiting for leases and the store; set when it first has to wait. */
  private long endNanos;

  private boolean endKnown;

  /** Its waiters in the cells whose leases it waits for. */
  private List<Waiter> waiters = List.of();

  /** Whether its wait timeout has expired. */
  private boolean timeIsUp;

  private volatile boolean mayWait = true;

  /**
   * Decides about charges without units: the store if a lease came too late, the outage policy if
   * none came.
   */
  private final AwaitedLeases ofStore = new AwaitedLeases();

  private final AwaitedLeases ofAllRegions = new AwaitedLeases();

  TieredRequest(Tiers tiers, List<TieredClaim> claims, Tiers.Later later) {
    this.tiers = tiers;
    this.later = later;
    this.standing = new ClaimState(claims);
    this.taken = new AcquiredUnits(standing, tiers.leases);
    this.outages = new OutageDecisions(tiers, standing, taken);
  }

  /** Returns the outcome when memory decides; else null, and {@code later} is notified. */
  @Nullable TieredOutcome start() {
    try {
      return begin();
    } catch (RuntimeException refused) { // by the store: too many charges
      mayWait = false;
      taken.putBackAll();
      throw refused;
    }
  }

  private @Nullable TieredOutcome begin() {
    List<MissingLease> lacking = decideInMemory();
    if (lacking.isEmpty() || standing.refused()) {
      mayWait = false;
      if (globalFail() && !standing.refused() && !outages.decideGlobal()) {
        StoreException why = orTimeout(ofAllRegions.failure());
        taken.putBackAll();
        later.failed(why);
        return null;
      }
      Question question = standing.question();
      if (question == null) {
        return settled();
      }
      ask(question);
    } else {
      await(lacking);
    }
    return null;
  }

  private void leaseEnded(AwaitedLeases leases, End end, @Nullable StoreException failure) {
    boolean last;
    synchronized (this) {
      leases.failedBy(failure);
      last = awaited == 1;
      if (awaited > 0) { // else the timeout has ended the wait
        awaited--;
        leases.ended(end);
      }
    }
    if (last) {
      goOn();
    }
  }

  /** Returns whether it waits for leases, or still may. */
  boolean mayWait() {
    return mayWait;
  }

  /** Ends its wait, if it waits. */
  void timeOut() {
    List<Waiter> left;
    synchronized (this) {
      timeIsUp = true;
      if (awaited == 0) {
        return; // the working thread reads timeIsUp before it waits
      }
      awaited = 0;
      ofStore.giveUp();
      ofAllRegions.giveUp();
      left = waiters;
    }
    forgetIfTimeIsUp(left);
    goOn();
  }

  private void goOn() {
    TieredOutcome outcome;
    try {
      outcome = begin();
    } catch (RuntimeException unexpected) {
      mayWait = false;
      fail(unexpected);
      return;
    }
    if (outcome != null) {
      later.decided(outcome);
    }
  }

  private void fail(Throwable cause) {
    taken.putBackAll();
    later.failed(StoreException.of(cause));
  }

  private void await(List<MissingLease> lacking) {
    // A request must not hold units of some counters while it waits for others.
    taken.putBackAll();
    boolean tooLate;
    synchronized (this) {
      tooLate = timeIsUp;
      if (tooLate) {
        ofStore.giveUp();
        ofAllRegions.giveUp();
      }
      awaited = tooLate ? 0 : lacking.size();
    }
    if (tooLate) {
      goOn();
      return;
    }
    if (!waited) {
      waited = true;
      tiers.patience.add(this, remainingNanos(tiers.time.monotonicNanos()));
    }
    List<Waiter> all = new ArrayList<>(lacking.size());
    for (MissingLease wish : lacking) {
      all.add(new Waiter(wish.cell(), wish.global() ? ofAllRegions : ofStore));
    }
    synchronized (this) {
      waiters = all;
    }
    for (int i = 0; i < all.size(); i++) {
      MissingLease wish = lacking.get(i);
      tiers.leases.lease(wish.cell(), wish.cost(), wish.onDataLoss(), all.get(i));
    }
    forgetIfTimeIsUp(all); // the timer may have been faster than this loop
  }

  /**
   * Removes its waiters from the cells after the timeout, so that an answered request is not
   * retained.
   */
  private void forgetIfTimeIsUp(List<Waiter> all) {
    synchronized (this) {
      if (!timeIsUp) {
        return;
      }
    }
    for (Waiter waiter : all) {
      waiter.cell.forget(waiter);
    }
  }

  private final class Waiter implements LeaseWaiter {
    private final LeaseCell cell;
    private final AwaitedLeases leases;

    Waiter(LeaseCell cell, AwaitedLeases leases) {
      this.cell = cell;
      this.leases = leases;
    }

    @Override
    public void leaseEnded(End end, @Nullable StoreException failure) {
      TieredRequest.this.leaseEnded(leases, end, failure);
    }
  }

  /** Decides the charges that need no store; returns the leases that are lacking. */
  private List<MissingLease> decideInMemory() {
    long now = tiers.time.monotonicNanos();
    tiers.leases.checkClock(now);
    List<MissingLease> lacking = new ArrayList<>(0);
    standing.clear();
    for (int c = 0; c < standing.claims(); c++) {
      switch (standing.claim(c).tier()) {
        case Tier.Strict strict -> {}
        case Tier.CachedDeny cachedDeny -> refuseFromCache(c, now);
        case Tier.Leasing leasing -> spend(c, leasing, now, lacking);
      }
    }
    first = false;
    return lacking;
  }

  private void refuseFromCache(int claim, long now) {
    for (int i = standing.start(claim); i < standing.end(claim); i++) {
      Decision refusal = tiers.denials.refusal(standing.charge(i), now);
      if (refusal != null) {
        standing.decide(i, refusal, DecidedBy.CACHED_DENIAL);
      }
    }
  }

  private void spend(int claim, Tier.Leasing tier, long now, List<MissingLease> lacking) {
    DataLoss onDataLoss = standing.claim(claim).claim().onDataLoss();
    boolean global = tier instanceof Tier.Global;
    for (int i = standing.start(claim); i < standing.end(claim); i++) {
      Charge charge = standing.charge(i);
      if (charge.cost() <= 0 && !global) {
        continue; // only the store knows what a refund or a peek needs
      }
      LeaseCell cell = tiers.leases.cell(charge, tier, first);
      AcquireResult take = take(cell, charge, now);
      // A cell that was retired after the look-up is replaced by its successor.
      while (take.kind() == AcquireResult.Kind.RETIRED) {
        cell = tiers.leases.cell(charge, tier, first);
        take = take(cell, charge, now);
      }
      Decision decision = take.decision();
      if (decision != null) {
        standing.decide(i, decision, global ? DecidedBy.GLOBAL_LEASE : DecidedBy.LEASE);
      }
      if (take.kind() == AcquireResult.Kind.TAKEN) {
        taken.add(i, cell, take);
        tiers.leases.refill(cell, onDataLoss, now);
      } else if (take.kind() == AcquireResult.Kind.SHORT
          && (global ? !globalFail() : !ofStore.fail() && ofStore.late() == 0)) {
        // A peek needs one unit.
        lacking.add(new MissingLease(cell, Math.max(1, charge.cost()), onDataLoss, global));
      }
    }
  }

  private AcquireResult take(LeaseCell cell, Charge charge, long now) {
    FixedWindow window = (FixedWindow) charge.algorithm();
    // A refund is not idempotent: only the first attempt refunds.
    return charge.cost() < 0
        ? cell.refund(first ? -charge.cost() : 0, now)
        : cell.take(window, charge.cost(), first, now);
  }

  private boolean globalFail() {
    return ofAllRegions.fail() || ofAllRegions.late() >= MAX_LATE;
  }

  /** Returns the remaining wait. The caller's deadline is read once, before the first wait. */
  private long remainingNanos(long nowNanos) {
    if (!endKnown) {
      endKnown = true;
      // A deadline that has passed is negative.
      endNanos = nowNanos + Math.clamp(later.waitTimeoutNanos(), 0, tiers.maxWaitNanos);
    }
    return endNanos - nowNanos;
  }

  private StoreException orTimeout(@Nullable StoreException why) {
    return why != null ? why : WaitTimeouts.atItsEnd();
  }

  private void ask(Question question) {
    long asked = tiers.time.monotonicNanos();
    // A charge whose lease failed is decided by its outage policy, not by another wait for the
    // store.
    if (ofStore.fail() && lacksLease(question)) {
      told(question, null, orTimeout(ofStore.failure()), 0);
      return;
    }
    tiers
        .store
        .acquire(question.claims(), remainingNanos(asked))
        .whenComplete((outcome, failure) -> told(question, outcome, failure, asked));
  }

  private boolean lacksLease(Question question) {
    for (int c = 0; c < standing.claims(); c++) {
      boolean leased = standing.claim(c).tier() instanceof Tier.Leased;
      for (int i = standing.start(c); leased && i < standing.end(c); i++) {
        if (question.charges().contains(i)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Answers the request with the store's outcome, or by the outage policies. */
  private void told(
      Question question, @Nullable Outcome outcome, @Nullable Throwable failure, long sentNanos) {
    TieredOutcome settled;
    try {
      if (outcome != null) {
        learn(question, outcome, sentNanos);
        fill(question, outcome);
      } else if (!outages.decide()) {
        fail(failure == null ? new IllegalStateException("no outcome") : failure);
        return;
      }
      settled = settled();
    } catch (RuntimeException unexpected) { // otherwise the request would never be answered
      fail(unexpected);
      return;
    }
    later.decided(settled);
  }

  private void learn(Question question, Outcome outcome, long sentNanos) {
    for (int n = 0; n < question.charges().size(); n++) {
      Charge charge = standing.charge(question.charges().get(n));
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
    CounterKey key = standing.charge(question.charges().get(index)).key();
    for (int n = 0; n < question.charges().size(); n++) {
      if (n != index && standing.charge(question.charges().get(n)).key().equals(key)) {
        return false;
      }
    }
    return true;
  }

  private void fill(Question question, Outcome outcome) {
    for (int n = 0; n < question.charges().size(); n++) {
      standing.decide(question.charges().get(n), outcome.decisions().get(n), DecidedBy.STORE);
    }
  }

  /** Returns the outcome, after units of refused claims have been put back. */
  private TieredOutcome settled() {
    if (standing.refused()) {
      taken.putBackAll();
    } else {
      for (int c = 0; c < standing.claims(); c++) {
        if (standing.refuses(c)) {
          taken.putBack(c);
        }
      }
    }
    TieredOutcome outcome = standing.outcome();
    outcome.decidedBy().forEach(tiers.listener::decided);
    return outcome;
  }
}
