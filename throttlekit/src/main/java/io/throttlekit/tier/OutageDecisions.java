package io.throttlekit.tier;

import io.throttlekit.Claim;
import io.throttlekit.Decision;
import io.throttlekit.store.Outcome;
import io.throttlekit.tier.ClaimState.Question;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides in place of a store that did not answer, by the outage policy of each claim. For one
 * thread.
 */
final class OutageDecisions {
  /** The retry time of a refusal, in place of one that only the store could compute. */
  private static final long RETRY_MILLIS = 1_000;

  private final Tiers tiers;
  private final ClaimState standing;
  private final AcquiredUnits taken;

  OutageDecisions(Tiers tiers, ClaimState standing, AcquiredUnits taken) {
    this.tiers = tiers;
    this.standing = standing;
    this.taken = taken;
  }

  /** Decides every undecided charge; false when a claim's policy is an error. */
  boolean decide() {
    for (int c = 0; c < standing.claims(); c++) {
      if (!isDecided(c) && !decide(c)) {
        return false;
      }
    }
    Question question = standing.question();
    if (question != null) {
      fill(question.charges(), decideHere(question.claims()));
    }
    return true;
  }

  /**
   * Decides the global claims that could not be leased; false when a claim's policy is an error.
   */
  boolean decideGlobal() {
    for (int c = 0; c < standing.claims(); c++) {
      if (!(standing.claim(c).tier() instanceof Tier.Global) || isDecided(c)) {
        continue;
      }
      if (!decide(c)) {
        return false;
      }
      if (standing.claim(c).outage() == Outage.LOCAL) {
        taken.putBack(c);
        List<Integer> places = new ArrayList<>();
        for (int i = standing.start(c); i < standing.end(c); i++) {
          places.add(i);
        }
        fill(places, decideHere(List.of(standing.claim(c).claim())));
      }
    }
    return true;
  }

  /** Decides a claim, except for LOCAL, which needs all charges together; false for ERROR. */
  private boolean decide(int claim) {
    Outage kind = standing.claim(claim).outage();
    tiers.listener.outage(kind);
    switch (kind) {
      case ERROR -> {
        return false;
      }
      case DENY -> decideAll(claim, false);
      case ALLOW -> decideAll(claim, true);
      case LOCAL -> {}
    }
    return true;
  }

  private void decideAll(int claim, boolean admitted) {
    taken.putBack(claim);
    for (int i = standing.start(claim); i < standing.end(claim); i++) {
      long limit = standing.charge(i).algorithm().limit();
      Decision decision =
          admitted ? Decision.admit(limit, limit, 0) : Decision.refuse(limit, 0, 0, RETRY_MILLIS);
      standing.decide(i, decision, DecidedBy.OUTAGE);
    }
  }

  private List<Decision> decideHere(List<Claim> claims) {
    List<Claim> shares = new ArrayList<>();
    for (Claim claim : claims) {
      shares.add(tiers.share.of(claim));
    }
    Outcome outcome = tiers.local.decide(shares);
    return outcome.decisions();
  }

  private void fill(List<Integer> charges, List<Decision> decisions) {
    for (int n = 0; n < charges.size(); n++) {
      standing.decide(charges.get(n), decisions.get(n), DecidedBy.OUTAGE);
    }
  }

  private boolean isDecided(int claim) {
    for (int i = standing.start(claim); i < standing.end(claim); i++) {
      if (standing.decision(i) == null) {
        return false;
      }
    }
    return true;
  }
}
