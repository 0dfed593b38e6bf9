package io.throttlekit.tier;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.lease.AcquireResult;
import io.throttlekit.lease.LeaseCell;
import io.throttlekit.lease.Tier;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.RequestWait;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The state of a request's claims: which charges are decided, by what, the leased units that they
 * have taken, and the result for the request. For one thread.
 */
final class ClaimState {
  /**
   * The retry time of a refusal in an outage, in place of one that only the store could compute.
   */
  private static final long OUTAGE_RETRY_MILLIS = 1_000;

  private final Tiers tiers;
  private final List<TieredClaim> claims;
  private final Charge[] charges;
  private final @Nullable Decision[] decisions;
  private final DecidedBy[] decidedBy;

  /** The cells that charges have taken units from, or lack units of. */
  private final @Nullable LeaseCell[] cells;

  /** What the cells answered: units taken, or {@link AcquireResult#SHORT}. */
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
      all.addAll(claims.get(c).claim().charges());
      starts[c + 1] = all.size();
    }
    this.charges = all.toArray(Charge[]::new);
    this.decisions = new @Nullable Decision[charges.length];
    this.decidedBy = new DecidedBy[charges.length];
    this.cells = new @Nullable LeaseCell[charges.length];
    this.acquired = new @Nullable AcquireResult[charges.length];
  }

  int claims() {
    return claims.size();
  }

  TieredClaim claim(int claim) {
    return claims.get(claim);
  }

  int start(int claim) {
    return starts[claim];
  }

  int end(int claim) {
    return starts[claim + 1];
  }

  Charge charge(int index) {
    return charges[index];
  }

  void decide(int index, Decision decision, DecidedBy by) {
    decisions[index] = decision;
    decidedBy[index] = by;
  }

  /** Records what a cell answered to a charge. */
  void acquired(int index, LeaseCell cell, AcquireResult result) {
    cells[index] = cell;
    acquired[index] = result;
  }

  /** Clears every decision; no units may be taken. */
  void clear() {
    Arrays.fill(decisions, null);
    Arrays.fill(cells, null);
  }

  /** Returns the cells that charges lack units of, with the first such charge of each. */
  List<MissingLease> missing() {
    List<MissingLease> missing = new ArrayList<>(1);
    for (int c = 0; c < claims.size(); c++) {
      for (int i = starts[c]; i < starts[c + 1]; i++) {
        LeaseCell cell = cells[i];
        AcquireResult result = acquired[i];
        if (cell != null
            && result != null
            && result.kind() == AcquireResult.Kind.SHORT
            && missing.stream().noneMatch(other -> other.cell().equals(cell))) {
          missing.add(
              new MissingLease(cell, charges[i].cost(), claims.get(c).claim().onDataLoss()));
        }
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
      LeaseCell cell = cells[i];
      AcquireResult result = acquired[i];
      if (cell == null || result == null || result.kind() != AcquireResult.Kind.TAKEN) {
        continue;
      }
      cells[i] = null;
      // A refund (negative cost) took nothing.
      long cost = Math.max(0, charges[i].cost());
      tiers.leases.putBack(cell, cost, result);
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

  /** Returns whether the decisions refuse the request, whatever the undecided charges will be. */
  boolean refused() {
    RequestWait request = new RequestWait();
    for (int c = 0; c < claims.size(); c++) {
      request.add(claims.get(c).claim().role(), refuses(c));
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
        decided.add(claims.get(c).claim().role(), false);
      }
    }
    List<Claim> asked = new ArrayList<>();
    List<Integer> places = new ArrayList<>();
    for (int c = 0; c < claims.size(); c++) {
      Claim claim = claims.get(c).claim();
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
        } else if (alwaysCounts(charge) && !(claims.get(c).tier() instanceof Tier.Global)) {
          asked.add(new Claim(Role.SHADOW, List.of(charge), claim.onDataLoss()));
          places.add(i);
        } else {
          long limit = charge.algorithm().limit();
          decide(i, Decision.admit(limit, limit, 0), DecidedBy.NONE);
        }
      }
      if (!together.isEmpty()) {
        asked.add(new Claim(decided.effectOf(claim.role()), together, claim.onDataLoss()));
      }
    }
    return asked.isEmpty() ? null : new Question(asked, places);
  }

  private static boolean alwaysCounts(Charge charge) {
    return charge.cost() < 0 || charge.overrun() != Overrun.REFUSE;
  }

  private boolean isDecided(int claim) {
    for (int i = starts[claim]; i < starts[claim + 1]; i++) {
      if (decisions[i] == null) {
        return false;
      }
    }
    return true;
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

  /**
   * Decides the undecided global claims by their outage policies; false when a claim's policy is an
   * error.
   */
  boolean decideGlobalByOutage() {
    for (int c = 0; c < claims.size(); c++) {
      TieredClaim claim = claims.get(c);
      if (!(claim.tier() instanceof Tier.Global) || isDecided(c)) {
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
    decide(places, tiers.local.decide(shares).decisions(), DecidedBy.OUTAGE);
  }

  void decide(List<Integer> places, List<Decision> all, DecidedBy by) {
    for (int n = 0; n < places.size(); n++) {
      decide(places.get(n), all.get(n), by);
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
    for (int i = 0; i < decisions.length; i++) {
      Decision decision = decisions[i];
      if (decision == null) {
        throw new IllegalStateException("charge " + i + " is not decided");
      }
      all.add(decision);
    }
    return new TieredOutcome(!refused, all, List.of(decidedBy));
  }
}
