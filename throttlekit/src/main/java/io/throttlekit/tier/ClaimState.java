package io.throttlekit.tier;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.Claim.Role;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decisions on the claims of a request: which charges are decided, their source, and the result
 * for the request. For one thread.
 */
final class ClaimState {
  private final List<TieredClaim> claims;
  private final Charge[] charges;
  private final @Nullable Decision[] decisions;
  private final DecidedBy[] decidedBy;

  /** The index of each claim's first charge; the last element is the number of charges. */
  private final int[] starts;

  /**
   * The charges that the store has to decide.
   *
   * @param claims for the store, with roles adjusted by what is decided already
   * @param charges the indices of their charges, in order
   */
  record Question(List<Claim> claims, List<Integer> charges) {}

  ClaimState(List<TieredClaim> claims) {
    this.claims = claims;
    this.starts = new int[claims.size() + 1];
    for (int c = 0; c < claims.size(); c++) {
      starts[c + 1] = starts[c] + claims.get(c).claim().charges().size();
    }
    this.charges = new Charge[starts[claims.size()]];
    this.decisions = new @Nullable Decision[charges.length];
    this.decidedBy = new DecidedBy[charges.length];
    for (int c = 0; c < claims.size(); c++) {
      List<Charge> ofClaim = claims.get(c).claim().charges();
      for (int i = 0; i < ofClaim.size(); i++) {
        charges[starts[c] + i] = ofClaim.get(i);
      }
    }
  }

  int size() {
    return charges.length;
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

  @Nullable Decision decision(int index) {
    return decisions[index];
  }

  DecidedBy decidedBy(int index) {
    return decidedBy[index];
  }

  void decide(int index, Decision decision, DecidedBy by) {
    decisions[index] = decision;
    decidedBy[index] = by;
  }

  /** Clears every decision. */
  void clear() {
    Arrays.fill(decisions, null);
  }

  /** Returns whether a decision refuses this claim. */
  boolean refuses(int claim) {
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
    int quotas = 0;
    int refusedQuotas = 0;
    for (int c = 0; c < claims.size(); c++) {
      Role role = claims.get(c).claim().role();
      boolean refuses = refuses(c);
      if (refuses && role == Role.ENFORCED) {
        return true;
      }
      if (role == Role.QUOTA) {
        quotas++;
        refusedQuotas += refuses ? 1 : 0;
      }
    }
    // Quotas refuse a request only together.
    return quotas > 0 && refusedQuotas == quotas;
  }

  /**
   * Returns the charges that the store has to decide; null when there are none. A charge whose
   * decision cannot change the result is decided here.
   */
  @Nullable Question question() {
    boolean refused = refused();
    boolean someQuotaPasses = false;
    for (int c = 0; c < claims.size(); c++) {
      someQuotaPasses |= claims.get(c).claim().role() == Role.QUOTA && admits(c);
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
          // the
          // store.
        } else if (alwaysCounts(charge) && !(claims.get(c).tier() instanceof Tier.Global)) {
          asked.add(new Claim(Role.SHADOW, List.of(charge), claim.onDataLoss()));
          places.add(i);
        } else {
          long limit = charge.algorithm().limit();
          decide(i, Decision.admit(limit, limit, 0), DecidedBy.NOBODY);
        }
      }
      if (!together.isEmpty()) {
        // Another quota admits, so this one cannot refuse the request.
        boolean harmless = claim.role() == Role.QUOTA && someQuotaPasses;
        asked.add(new Claim(harmless ? Role.SHADOW : claim.role(), together, claim.onDataLoss()));
      }
    }
    return asked.isEmpty() ? null : new Question(asked, places);
  }

  private static boolean alwaysCounts(Charge charge) {
    return charge.cost() < 0 || charge.overrun() != Overrun.REFUSE;
  }

  TieredOutcome outcome() {
    List<Decision> all = new ArrayList<>(decisions.length);
    for (int i = 0; i < decisions.length; i++) {
      Decision decision = decisions[i];
      if (decision == null) {
        throw new IllegalStateException("charge " + i + " is not decided");
      }
      all.add(decision);
    }
    return new TieredOutcome(!refused(), all, List.of(decidedBy));
  }

  private boolean admits(int claim) {
    for (int i = starts[claim]; i < starts[claim + 1]; i++) {
      Decision decision = decisions[i];
      if (decision == null || !decision.admitted()) {
        return false;
      }
    }
    return true;
  }
}
