package io.throttlekit.tier;

import static java.util.Objects.requireNonNull;

import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.lease.AcquireResult;
import io.throttlekit.lease.AcquireResult.Kind;
import io.throttlekit.lease.LeaseCell;
import io.throttlekit.lease.Tier;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.RequestWait;
import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The state of a request's claims: which charges are decided, by what, the leased units that they
 * have taken, and the result for the request. For one thread at a time.
 */
final class ClaimState {
  /**
   * The retry time of a refusal in an outage, in place of one that only the store could compute:
   * short, because the store may answer again at any time, but no load from clients in a loop.
   */
  private static final long OUTAGE_RETRY_MILLIS = 1_000;

  private final Tiers tiers;
  private final List<TieredClaim> claims;
  private final Charge[] charges;
  private final @Nullable Decision[] decisions;
  private final DecidedBy[] decidedBy;

  /** The results of cells whose units a charge has taken, or lacks. */
  private final @Nullable AcquireResult[] acquired;

  /** The index of each claim's first charge; the last element is the number of charges. */
  private final int[] starts;

  /**
   * The charges that the store has to decide.
   *
   * @param claims for the store, with roles adjusted by what is decided already
   * @param charges the indices of their charges, in order
   */
  record Question(List<Claim> claims, List<Integer> charges) {}

  ClaimState(Tiers tiers, List<TieredClaim> claims) {
    this.tiers = tiers;
    this.claims = claims;
    this.starts = new int[claims.size() + 1];
    List<Charge> all = new ArrayList<>(claims.size());
    for (int c = 0; c < claims.size(); c++) {
      all.addAll(claims.get(c).charges());
      starts[c + 1] = all.size();
    }
    this.charges = all.toArray(Charge[]::new);
    this.decisions = new @Nullable Decision[charges.length];
    this.decidedBy = new DecidedBy[charges.length];
    this.acquired = new @Nullable AcquireResult[charges.length];
  }

  Charge charge(int index) {
    return charges[index];
  }

  TieredClaim claimOf(int charge) {
    int claim = 0;
    while (starts[claim + 1] <= charge) {
      claim++;
    }
    return claims.get(claim);
  }

  /** Records the result of a cell: units that a charge took or lacks. */
  void acquired(int index, AcquireResult result) {
    acquired[index] = result;
  }

  private void decide(int index, Decision decision, DecidedBy by) {
    decisions[index] = decision;
    decidedBy[index] = by;
  }

  /**
   * Decides the charges that need no store, anew.
   *
   * @param first whether this is the first attempt, so that costs count as demand
   * @param mayLease whether units of the region may be leased
   * @param mayLeaseGlobal whether units that all regions share may be leased
   * @return whether leases are missing
   */
  boolean decideInMemory(boolean first, boolean mayLease, boolean mayLeaseGlobal) {
    long now = tiers.time.monotonicNanos();
    tiers.leases.checkClock(now);
    Arrays.fill(decisions, null);
    Arrays.fill(acquired, null);
    boolean lacks = false;
    for (int c = 0; c < claims.size(); c++) {
      TieredClaim claim = claims.get(c);
      for (int i = starts[c]; i < starts[c + 1]; i++) {
        switch (claim.tier()) {
          case Tier.Strict _ -> {}
          case Tier.CachedDeny _ -> {
            Decision refusal = tiers.denials.refusal(charges[i], now);
            if (refusal != null) {
              decide(i, refusal, DecidedBy.CACHED_DENIAL);
            }
          }
          case Tier.Leased leased -> {
            // only the store knows what a refund or a peek needs
            if (charges[i].cost() > 0) {
              lacks |= spend(i, leased, claim, first, mayLease, now);
            }
          }
          case Tier.Global global -> lacks |= spend(i, global, claim, first, mayLeaseGlobal, now);
        }
      }
    }
    return lacks;
  }

  /** Decides a charge by its cell; returns whether a lease is missing. */
  private boolean spend(
      int index, Tier.Leasing tier, TieredClaim claim, boolean first, boolean mayLease, long now) {
    AcquireResult result =
        tiers.leases.tryAcquire(charges[index], tier, claim.onDataLoss(), first, now);
    if (result.decision() != null) {
      decide(index, result.decision(), tiers.decidedBy(tier));
    }
    boolean lacks = result.kind() == Kind.SHORT && mayLease;
    if (lacks || result.kind() == Kind.TAKEN) {
      acquired[index] = result;
    }
    return lacks;
  }

  /** Returns the cells that charges lack units of, with the index of the first such charge. */
  SequencedMap<LeaseCell, Integer> missing() {
    SequencedMap<LeaseCell, Integer> missing = new LinkedHashMap<>();
    for (int i = 0; i < charges.length; i++) {
      AcquireResult result = acquired[i];
      if (result != null && result.kind() == Kind.SHORT) {
        missing.putIfAbsent(result.cell(), i);
      }
    }
    return missing;
  }

  /** Puts all units back. */
  void putBackAll() {
    putBack(0, charges.length);
  }

  private void putBack(int first, int end) {
    for (int i = first; i < end; i++) {
      AcquireResult result = acquired[i];
      if (result == null || result.kind() != Kind.TAKEN) {
        continue;
      }
      acquired[i] = null;
      // A refund (negative cost) took nothing.
      long cost = Math.max(0, charges[i].cost());
      tiers.leases.putBack(result, cost);
      Decision before = decisions[i];
      // The decision reported the units as spent; the client sees what is left after the return.
      if (before != null && before.admitted()) {
        long remaining = Math.min(before.limit(), before.remaining() + cost);
        decisions[i] = Decision.admit(before.limit(), remaining, before.resetAfterMillis());
      }
    }
  }

  /** Returns whether a decision refuses this claim. */
  private boolean refuses(int claim) {
    for (int i = starts[claim]; i < starts[claim + 1]; i++) {
      Decision decision = decisions[i];
      if (decision != null && !decision.admitted()) {
        return true;
      }
    }
    return false;
  }

  private boolean isDecided(int claim) {
    for (int i = starts[claim]; i < starts[claim + 1]; i++) {
      if (decisions[i] == null) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether the decisions refuse the request, whatever the undecided charges will be. */
  boolean refused() {
    RequestWait request = new RequestWait();
    for (int c = 0; c < claims.size(); c++) {
      request.add(claims.get(c).role(), refuses(c));
    }
    return request.refused();
  }

  /**
   * Returns the charges that the store has to decide; null when there are none. A charge whose
   * decision cannot change the result is decided here.
   */
  @Nullable Question question() {
    boolean refused = refused();
    RequestWait decided = new RequestWait();
    for (int c = 0; c < claims.size(); c++) {
      if (isDecided(c) && !refuses(c)) {
        decided.add(claims.get(c).role(), false);
      }
    }
    List<Claim> open = new ArrayList<>();
    List<Integer> places = new ArrayList<>();
    for (int c = 0; c < claims.size(); c++) {
      TieredClaim claim = claims.get(c);
      boolean moot = refused || refuses(c);
      List<Charge> together = new ArrayList<>();
      for (int i = starts[c]; i < starts[c + 1]; i++) {
        if (decisions[i] != null) {
          continue;
        }
        Charge charge = charges[i];
        if (!moot) {
          together.add(charge);
          places.add(i);
          // Refunds and overdrafts count even on a refused request; global limits take no part in
          // the store.
        } else if (alwaysCounts(charge) && !(claim.tier() instanceof Tier.Global)) {
          open.add(new Claim(Role.SHADOW, List.of(charge), claim.onDataLoss()));
          places.add(i);
        } else {
          leaveUncounted(i);
        }
      }
      if (!together.isEmpty()) {
        open.add(new Claim(decided.effectOf(claim.role()), together, claim.onDataLoss()));
      }
    }
    return open.isEmpty() ? null : new Question(open, places);
  }

  private void leaveUncounted(int index) {
    long limit = charges[index].algorithm().limit();
    decide(index, Decision.admit(limit, limit, 0), DecidedBy.NONE);
  }

  private static boolean alwaysCounts(Charge charge) {
    return charge.cost() < 0 || charge.overrun() != Overrun.REFUSE;
  }

  /**
   * Decides by the store's answer, and caches what it reveals.
   *
   * @param sentNanos when the question was sent, monotonic
   */
  void decideByStore(Question question, Outcome outcome, long sentNanos) {
    for (int n = 0; n < question.charges().size(); n++) {
      decideByStore(question, n, outcome.decisions().get(n), sentNanos);
    }
  }

  private void decideByStore(Question question, int n, Decision decision, long sentNanos) {
    int place = question.charges().get(n);
    Charge charge = charges[place];
    if (charge.cost() < 0) { // frees units that cells and refusals believe to be used up
      tiers.leases.reopen(charge.chargedKey());
    }
    // Of several charges on one counter, no decision is that of its charge alone.
    if (!sharesCounter(question.charges(), n)) {
      tiers.denials.learn(charge, decision, sentNanos);
    }
    decide(place, decision, DecidedBy.STORE);
  }

  /**
   * Decides by what other stores have answered, then the claims of the failed store by their outage
   * policies; false when one's policy is an error. A refused request or claim needs none.
   */
  boolean decideWithout(Question question, StoreException.Part part, long sentNanos) {
    part.decided().forEach((n, decision) -> decideByStore(question, n, decision, sentNanos));
    BitSet failed = new BitSet(charges.length);
    part.failed().forEach(n -> failed.set(question.charges().get(n)));
    boolean refused = refused();
    for (int c = 0; c < claims.size(); c++) {
      if (refused || refuses(c)) { // by another store; an outage policy must not admit it
        IntStream.range(starts[c], starts[c + 1]).filter(failed::get).forEach(this::leaveUncounted);
        failed.clear(starts[c], starts[c + 1]);
      }
    }
    return decideByOutage(c -> !failed.get(starts[c], starts[c + 1]).isEmpty());
  }

  /** Returns whether another charge of these is on the counter of the {@code n}th. */
  private boolean sharesCounter(List<Integer> places, int n) {
    CounterKey key = charges[places.get(n)].key();
    for (int other = 0; other < places.size(); other++) {
      if (other != n && charges[places.get(other)].key().equals(key)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Decides every undecided charge by the outage policies; false when a claim's policy is an error.
   */
  boolean decideByOutage() {
    for (int c = 0; c < claims.size(); c++) {
      if (!isDecided(c) && !decideByOutage(c)) {
        return false;
      }
    }
    Question question = question();
    if (question != null) { // of claims that decide locally
      decideLocally(question.charges(), question.claims());
    }
    return true;
  }

  /** Decides undecided global claims by their outage policies; false when one's is an error. */
  boolean decideGlobalByOutage() {
    return decideByOutage(c -> claims.get(c).tier() instanceof Tier.Global);
  }

  private boolean decideByOutage(IntPredicate concerned) {
    for (int c = 0; c < claims.size(); c++) {
      TieredClaim claim = claims.get(c);
      if (isDecided(c) || !concerned.test(c)) {
        continue;
      }
      if (!decideByOutage(c)) {
        return false;
      }
      if (claim.outage() == Outage.LOCAL) {
        putBack(starts[c], starts[c + 1]);
        decideLocally(
            IntStream.range(starts[c], starts[c + 1]).boxed().toList(), List.of(claim.claim()));
      }
    }
    return true;
  }

  /** Decides a claim, except for LOCAL, which needs all charges together; false for ERROR. */
  private boolean decideByOutage(int claim) {
    Outage policy = claims.get(claim).outage();
    tiers.listener.outage(policy);
    if (policy == Outage.DENY || policy == Outage.ALLOW) {
      putBack(starts[claim], starts[claim + 1]);
      for (int i = starts[claim]; i < starts[claim + 1]; i++) {
        long limit = charges[i].algorithm().limit();
        Decision decision =
            policy == Outage.ALLOW
                ? Decision.admit(limit, limit, 0)
                : Decision.refuse(limit, 0, 0, OUTAGE_RETRY_MILLIS);
        decide(i, decision, DecidedBy.OUTAGE);
      }
    }
    return policy != Outage.ERROR;
  }

  private void decideLocally(List<Integer> places, List<Claim> together) {
    List<Claim> shares = together.stream().map(tiers.share::of).toList();
    List<Decision> all = tiers.local.decide(shares).decisions();
    for (int n = 0; n < places.size(); n++) {
      decide(places.get(n), all.get(n), DecidedBy.OUTAGE);
    }
  }

  /** Returns the outcome, after units of refused claims have been put back. */
  TieredOutcome settle() {
    boolean refused = refused();
    for (int c = 0; c < claims.size(); c++) {
      if (refused || refuses(c)) {
        putBack(starts[c], starts[c + 1]);
      }
    }
    List<Decision> all = new ArrayList<>(decisions.length);
    for (Decision decision : decisions) {
      all.add(requireNonNull(decision, "a charge is not decided"));
    }
    return new TieredOutcome(!refused, all, List.of(decidedBy));
  }
}
