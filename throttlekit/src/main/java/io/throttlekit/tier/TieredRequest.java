package io.throttlekit.tier;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.Standing.Question;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way through the tiers: first what memory can say, then, where that is not
 * everything, the store.
 *
 * <p>It waits for the leases that its charges lack, holding nothing meanwhile, and begins again
 * when all have ended. One thread works on it at a time; the lock is for the timer, which may end
 * the waiting.
 */
final class TieredRequest implements LeaseWaiter {
  /** What a caller is told to wait that is refused for an outage. */
  private static final long RETRY_MILLIS = 1_000;

  private final Tiers tiers;
  private final Tiers.Later later;
  private final Standing standing;

  /** What was taken from leases, by charge. */
  private final @Nullable LeaseCell[] takenFrom;

  private final long[] takenWindowEnd;

  /** Leases to wait for; 0 while somebody works on this request. */
  private int awaited;

  /** Whether its costs have not been counted as demand yet. */
  private boolean first = true;

  private boolean waited;

  /** Whether it has waited as long as it may. */
  private boolean timeIsUp;

  private volatile boolean mayWait = true;

  /** A lease came too late, so that what lacks units is for the store to decide. */
  private boolean pastLeasing;

  /** A lease did not come, so that what lacks units is decided by its {@link Outage}. */
  private boolean leasesFail;

  /** Why it did not come, when the store said so. */
  private @Nullable StoreException leaseFailure;

  TieredRequest(Tiers tiers, List<TieredClaim> claims, Tiers.Later later) {
    this.tiers = tiers;
    this.later = later;
    this.standing = new Standing(claims);
    this.takenFrom = new @Nullable LeaseCell[standing.size()];
    this.takenWindowEnd = new long[standing.size()];
  }

  /** The outcome when memory knows it; else null, and {@code later} will be told. */
  @Nullable TieredOutcome start() {
    try {
      return begin();
    } catch (RuntimeException refused) { // by the store: more charges than it takes
      mayWait = false;
      putBack(0, standing.size());
      throw refused;
    }
  }

  private @Nullable TieredOutcome begin() {
    List<LeaseWish> lacking = decideInMemory();
    if (lacking.isEmpty() || standing.refused()) {
      mayWait = false;
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

  @Override
  public void leaseEnded(End end, @Nullable StoreException failure) {
    synchronized (this) {
      leaseFailure = failure != null ? failure : leaseFailure;
      if (awaited == 0) {
        return; // the timer was faster
      }
      pastLeasing |= end == End.LATE;
      leasesFail |= end == End.FAILED;
      if (--awaited > 0) {
        return;
      }
    }
    goOn();
  }

  /** Whether it waits for leases, or may yet do so. */
  boolean mayWait() {
    return mayWait;
  }

  /** Ends its waiting, if it waits. */
  void outOfPatience() {
    synchronized (this) {
      timeIsUp = true;
      if (awaited == 0) {
        return; // somebody works on it, and will see
      }
      awaited = 0;
      leasesFail = true;
    }
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
    putBack(0, standing.size());
    later.failed(StoreException.of(cause));
  }

  private void await(List<LeaseWish> lacking) {
    putBack(0, standing.size());
    boolean tooLate;
    synchronized (this) {
      tooLate = timeIsUp;
      leasesFail |= tooLate;
      awaited = tooLate ? 0 : lacking.size();
    }
    if (tooLate) {
      goOn();
      return;
    }
    if (!waited) {
      waited = true;
      tiers.patience.add(this, later.patienceNanos());
    }
    for (LeaseWish wish : lacking) {
      tiers.leases.lease(wish.cell(), wish.cost(), wish.onDataLoss(), this);
    }
  }

  /** Decides what needs no store, and says which leases are lacking. */
  private List<LeaseWish> decideInMemory() {
    long now = tiers.time.monotonicNanos();
    List<LeaseWish> lacking = new ArrayList<>(0);
    standing.clear();
    for (int c = 0; c < standing.claims(); c++) {
      switch (standing.claim(c).tier()) {
        case Tier.Strict strict -> {}
        case Tier.CachedDeny cachedDeny -> refuseFromCache(c, now);
        case Tier.Leased leased -> spend(c, leased, now, lacking);
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

  private void spend(int claim, Tier.Leased leased, long now, List<LeaseWish> lacking) {
    for (int i = standing.start(claim); i < standing.end(claim); i++) {
      Charge charge = standing.charge(i);
      if (charge.cost() <= 0) {
        continue; // a refund or a peek: the store knows
      }
      FixedWindow window = (FixedWindow) charge.algorithm();
      LeaseCell cell = tiers.leases.cell(charge, leased, first);
      Take take = cell.take(window, charge.cost(), first, now);
      while (take.kind() == Take.Kind.RETIRED) {
        cell = tiers.leases.cell(charge, leased, first);
        take = cell.take(window, charge.cost(), first, now);
      }
      Decision decision = take.decision();
      if (decision != null) {
        standing.decide(i, decision, DecidedBy.LEASE);
      }
      if (take.kind() == Take.Kind.TAKEN) {
        takenFrom[i] = cell;
        takenWindowEnd[i] = take.windowEndMillis();
        tiers.leases.refill(cell, standing.claim(claim).claim().onDataLoss(), now);
      } else if (take.kind() == Take.Kind.SHORT && !pastLeasing && !leasesFail) {
        lacking.add(new LeaseWish(cell, charge.cost(), standing.claim(claim).claim().onDataLoss()));
      }
    }
  }

  private void ask(Question question) {
    long asked = tiers.time.monotonicNanos();
    if (leasesFail) {
      StoreException why = leaseFailure;
      told(question, null, why != null ? why : tiers.patience.atItsEnd(), 0);
      return;
    }
    tiers
        .store
        .acquire(question.claims())
        .whenComplete((outcome, failure) -> told(question, outcome, failure, asked));
  }

  /** Answers the request with what the store said, or with what is answered for it. */
  private void told(
      Question question, @Nullable Outcome outcome, @Nullable Throwable failure, long askedNanos) {
    TieredOutcome settled;
    try {
      if (outcome != null) {
        learn(question, outcome, askedNanos);
        fill(question, outcome, DecidedBy.STORE);
      } else if (!decideForStore()) {
        fail(failure == null ? new IllegalStateException("no outcome") : failure);
        return;
      }
      settled = settled();
    } catch (RuntimeException unexpected) { // or nobody would ever answer
      fail(unexpected);
      return;
    }
    later.decided(settled);
  }

  private void learn(Question question, Outcome outcome, long askedNanos) {
    for (int n = 0; n < question.charges().size(); n++) {
      Charge charge = standing.charge(question.charges().get(n));
      if (charge.cost() < 0) {
        tiers.leases.reopen(charge.key());
      }
      if (isAlone(question, n)) {
        tiers.denials.learn(charge, outcome.decisions().get(n), askedNanos);
      }
    }
  }

  /** Whether no other charge of the question shares the counter. */
  private boolean isAlone(Question question, int index) {
    CounterKey key = standing.charge(question.charges().get(index)).key();
    for (int n = 0; n < question.charges().size(); n++) {
      if (n != index && standing.charge(question.charges().get(n)).key().equals(key)) {
        return false;
      }
    }
    return true;
  }

  private void fill(Question question, Outcome outcome, DecidedBy by) {
    for (int n = 0; n < question.charges().size(); n++) {
      standing.decide(question.charges().get(n), outcome.decisions().get(n), by);
    }
  }

  /** Decides what the store did not, as each claim wants it; false when one wants an error. */
  private boolean decideForStore() {
    for (int c = 0; c < standing.claims(); c++) {
      if (isDecided(c)) {
        continue;
      }
      Outage kind = standing.claim(c).outage();
      tiers.listener.outage(kind);
      switch (kind) {
        case ERROR -> {
          return false;
        }
        case DENY -> decideAll(c, false);
        case ALLOW -> decideAll(c, true);
        case LOCAL -> {}
      }
    }
    decideLocally();
    return true;
  }

  private void decideAll(int claim, boolean admitted) {
    putBack(standing.start(claim), standing.end(claim));
    for (int i = standing.start(claim); i < standing.end(claim); i++) {
      long limit = standing.charge(i).algorithm().limit();
      Decision decision =
          admitted ? Decision.admit(limit, limit, 0) : Decision.refuse(limit, 0, 0, RETRY_MILLIS);
      standing.decide(i, decision, DecidedBy.OUTAGE);
    }
  }

  private void decideLocally() {
    Question question = standing.question();
    if (question == null) {
      return;
    }
    List<Claim> shares = new ArrayList<>();
    for (Claim claim : question.claims()) {
      shares.add(tiers.share.of(claim));
    }
    fill(question, tiers.local.decide(shares), DecidedBy.OUTAGE);
  }

  private boolean isDecided(int claim) {
    for (int i = standing.start(claim); i < standing.end(claim); i++) {
      if (standing.decision(i) == null) {
        return false;
      }
    }
    return true;
  }

  /** The outcome, once what was taken for nothing is back. */
  private TieredOutcome settled() {
    if (standing.refused()) {
      putBack(0, standing.size());
    } else {
      for (int c = 0; c < standing.claims(); c++) {
        if (standing.refuses(c)) {
          putBack(standing.start(c), standing.end(c));
        }
      }
    }
    TieredOutcome outcome = standing.outcome();
    outcome.decidedBy().forEach(tiers.listener::decided);
    return outcome;
  }

  private void putBack(int from, int to) {
    for (int i = from; i < to; i++) {
      LeaseCell cell = takenFrom[i];
      if (cell == null) {
        continue;
      }
      takenFrom[i] = null;
      long cost = standing.charge(i).cost();
      tiers.leases.putBack(cell, cost, takenWindowEnd[i]);
      Decision taken = standing.decision(i);
      if (taken != null && taken.admitted()) {
        long remaining = Math.min(taken.limit(), taken.remaining() + cost);
        standing.decide(
            i, Decision.admit(taken.limit(), remaining, taken.resetAfterMillis()), DecidedBy.LEASE);
      }
    }
  }
}
