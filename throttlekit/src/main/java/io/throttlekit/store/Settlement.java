package io.throttlekit.store;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.rate.Transition;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides the claims of one request as one, on counters that the caller has locked.
 *
 * <p>Refunds and overdrafts always count. Every other charge counts only when its own claim is not
 * refused and the request is admitted. Claims are applied in order, so two claims on one counter
 * see each other.
 */
final class Settlement {
  private final List<Claim> claims;
  private final Counter[] counters;
  private final int[] counterOfCharge;
  private final long nowMillis;
  private final @Nullable Object[] states;
  private final Decision[] decisions;

  /**
   * @param counters the distinct counters of the claims, locked
   * @param counterOfCharge index into {@code counters} for every charge, in order
   */
  Settlement(List<Claim> claims, Counter[] counters, int[] counterOfCharge, long nowMillis) {
    this.claims = claims;
    this.counters = counters;
    this.counterOfCharge = counterOfCharge;
    this.nowMillis = nowMillis;
    this.states = new @Nullable Object[counters.length];
    this.decisions = new Decision[counterOfCharge.length];
  }

  Outcome settle() {
    boolean[] refused = new boolean[claims.size()];
    rewind();
    int first = 0;
    for (int c = 0; c < claims.size(); c++) {
      Claim claim = claims.get(c);
      refused[c] = apply(claim, first);
      first += claim.charges().size();
    }
    boolean admitted = isAdmitted(refused);
    if (!admitted) {
      rewind();
      chargeOnlyWhatAlwaysCounts(0, decisions.length);
    }
    commit();
    return new Outcome(admitted, Arrays.asList(decisions));
  }

  private void rewind() {
    for (int i = 0; i < counters.length; i++) {
      states[i] = counters[i].state();
    }
  }

  private void commit() {
    List<Charge> charges = charges();
    for (int i = 0; i < decisions.length; i++) {
      int counter = counterOfCharge[i];
      counters[counter].keep(charges.get(i).algorithm(), states[counter]);
    }
  }

  /**
   * Applies one claim; takes back what must not count when it is refused, and says whether it is.
   */
  private boolean apply(Claim claim, int first) {
    int end = first + claim.charges().size();
    @Nullable Object[] before = states.clone();
    boolean refused = false;
    for (int i = first; i < end; i++) {
      decisions[i] = advance(claim.charges().get(i - first), i);
      refused |= !decisions[i].admitted();
    }
    if (refused) {
      System.arraycopy(before, 0, states, 0, states.length);
      chargeOnlyWhatAlwaysCounts(first, end);
    }
    return refused;
  }

  private void chargeOnlyWhatAlwaysCounts(int first, int end) {
    List<Charge> charges = charges();
    for (int i = first; i < end; i++) {
      Charge charge = charges.get(i);
      if (charge.cost() < 0 || charge.overrun() != Overrun.REFUSE) {
        decisions[i] = advance(charge, i);
      } else if (decisions[i].admitted()) {
        decisions[i] = uncharged(charge, i);
      }
    }
  }

  private Decision advance(Charge charge, int index) {
    int counter = counterOfCharge[index];
    Transition<?> transition = Counter.transition(charge, states[counter], nowMillis);
    states[counter] = transition.state();
    return transition.decision();
  }

  /** The answer of a charge that would have been admitted, had the others been. */
  private Decision uncharged(Charge charge, int index) {
    Charge peek = new Charge(charge.key(), charge.algorithm(), 0, Overrun.COUNT);
    Decision seen = Counter.transition(peek, states[counterOfCharge[index]], nowMillis).decision();
    return Decision.admit(seen.limit(), seen.remaining(), seen.resetAtMillis());
  }

  private boolean isAdmitted(boolean[] refused) {
    int quotas = 0;
    int refusedQuotas = 0;
    for (int c = 0; c < refused.length; c++) {
      switch (claims.get(c).role()) {
        case ENFORCED -> {
          if (refused[c]) {
            return false;
          }
        }
        case QUOTA -> {
          quotas++;
          refusedQuotas += refused[c] ? 1 : 0;
        }
        case SHADOW -> {}
      }
    }
    return quotas == 0 || refusedQuotas < quotas;
  }

  private List<Charge> charges() {
    List<Charge> charges = new ArrayList<>(decisions.length);
    for (Claim claim : claims) {
      charges.addAll(claim.charges());
    }
    return charges;
  }
}
