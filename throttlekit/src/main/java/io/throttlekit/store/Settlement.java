package io.throttlekit.store;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides the claims of one request together, with all their counters locked.
 *
 * <p>Refunds and overdrafts always count. Any other charge counts only if its claim and the request
 * are admitted. Claims are applied in order, so two claims on one counter see each other's charges.
 * Counters are locked in the same order everywhere, so requests cannot deadlock.
 */
final class Settlement {
  private static final Comparator<Counter> IN_ORDER = (a, b) -> Long.compare(a.order, b.order);

  private final List<Claim> claims;
  private final long nowMillis;
  private final Charge[] charges;
  private final Counter[] counters;
  private final Decision[] decisions;
  private Map<CounterKey, Counter> standIns = Map.of();

  /** The ms for which a loss of data refuses each charge; absent without a loss. */
  private final long @Nullable [] denied;

  /**
   * Creates a settlement.
   *
   * @param lossMillis when counters were lost, {@link Denial#NO_LOSS} for never
   */
  Settlement(List<Claim> claims, long nowMillis, long lossMillis) {
    this.claims = claims;
    this.nowMillis = nowMillis;
    int size = 0;
    for (int c = 0; c < claims.size(); c++) {
      size += claims.get(c).charges().size();
    }
    this.charges = new Charge[size];
    this.counters = new Counter[size];
    this.decisions = new Decision[size];
    this.denied = lossMillis == Denial.NO_LOSS ? null : new long[size];
    int next = 0;
    for (int c = 0; c < claims.size(); c++) {
      List<Charge> ofClaim = claims.get(c).charges();
      for (int i = 0; i < ofClaim.size(); i++) {
        Charge charge = ofClaim.get(i);
        if (denied != null && claims.get(c).onDataLoss() == DataLoss.DENY && charge.cost() >= 0) {
          denied[next] = Denial.millisLeft(charge.algorithm(), lossMillis, nowMillis);
        }
        charges[next++] = charge;
      }
    }
  }

  /** Returns the number of charges. */
  int size() {
    return charges.length;
  }

  Charge charge(int index) {
    return charges[index];
  }

  /**
   * Returns whether several tenants are charged, each of which changes what the others may take.
   */
  boolean chargesSeveralTenants() {
    FairTenant known = null;
    for (Charge charge : charges) {
      FairTenant tenant = charge.tenant();
      if (tenant != null && known != null && !tenant.key().equals(known.key())) {
        return true;
      }
      known = tenant == null ? known : tenant;
    }
    return false;
  }

  Counter counter(int index) {
    return counters[index];
  }

  /** Sets the counter of charge {@code index}. */
  void use(int index, Counter counter) {
    counters[index] = counter;
  }

  /**
   * Sets a temporary counter for charge {@code index}, or the one that was set for the same key
   * before. {@link #settle} fails if a temporary counter would have to count something.
   */
  void standIn(int index, Counter counter) {
    standIns = standIns.isEmpty() ? new HashMap<>() : standIns;
    Counter known = standIns.putIfAbsent(counter.key(), counter);
    counters[index] = known == null ? counter : known;
  }

  /**
   * Decides and counts; null, with nothing counted, when a counter is retired or a temporary
   * counter would have to be stored.
   */
  @Nullable Outcome settle() {
    Counter[] held = distinctInOrder();
    @Nullable Object[] found = new @Nullable Object[held.length];
    int holding = 0;
    boolean settled = false;
    try {
      while (holding < held.length) {
        if (!held[holding].hold()) {
          return null;
        }
        found[holding] = held[holding].draft;
        holding++;
      }
      boolean admitted = decide(held, found);
      settled = standIns.isEmpty() || standInsStayUnused();
      return settled ? new Outcome(admitted, List.of(decisions)) : null;
      // Counters are unlocked on every path, with their old states unless everything was settled.
    } finally {
      for (int i = 0; i < holding; i++) {
        if (!settled) {
          held[i].restore(found[i]);
        }
        held[i].release();
      }
    }
  }

  private boolean standInsStayUnused() {
    for (Counter counter : standIns.values()) {
      if (counter.draft != null) {
        return false;
      }
    }
    return true;
  }

  private boolean decide(Counter[] held, @Nullable Object[] found) {
    int request = 0;
    int first = 0;
    @Nullable Object[] before = new @Nullable Object[charges.length];
    for (int c = 0; c < claims.size(); c++) {
      Claim claim = claims.get(c);
      int end = first + claim.charges().size();
      request = RequestWait.with(request, claim.role(), !apply(first, end, before));
      first = end;
    }
    if (RequestWait.refused(request)) {
      for (int i = 0; i < held.length; i++) {
        held[i].restore(found[i]);
      }
      // Some charges share a counter.
      if (held.length < charges.length) {
        waitForAllOfACounter();
      }
      chargeOnlyWhatAlwaysCounts(0, charges.length);
    }
    return !RequestWait.refused(request);
  }

  /**
   * Applies one claim; of a refused claim, only what always counts. Returns whether it is admitted.
   *
   * @param before receives the draft of each charge's counter before that charge
   */
  private boolean apply(int first, int end, @Nullable Object[] before) {
    boolean admitted = true;
    for (int i = first; i < end; i++) {
      before[i] = counters[i].draft;
      decisions[i] = count(i, charges[i]);
      admitted &= decisions[i].admitted();
    }
    if (!admitted) {
      // Backwards: a counter with several charges ends at its first draft.
      for (int i = end - 1; i >= first; i--) {
        counters[i].restore(before[i]);
      }
      chargeOnlyWhatAlwaysCounts(first, end);
    }
    return admitted;
  }

  /** Applies {@code charge}, in place of charge {@code index}, to the draft of its counter. */
  private Decision count(int index, Charge charge) {
    Counter counter = counters[index];
    Object found = counter.draft;
    Decision decision = counter.chargeDraft(charge, nowMillis);
    if (denied == null || denied[index] == 0) {
      return decision;
    }
    if (charge.overrun() == Overrun.REFUSE) {
      counter.restore(found);
    }
    return Denial.of(decision, denied[index]);
  }

  private void chargeOnlyWhatAlwaysCounts(int first, int end) {
    for (int i = first; i < end; i++) {
      Charge charge = charges[i];
      if (charge.cost() < 0 || charge.overrun() != Overrun.REFUSE) {
        Decision charged = count(i, charge);
        decisions[i] = decisions[i].admitted() ? charged : refusing(charged, decisions[i]);
      } else if (decisions[i].admitted()) {
        decisions[i] = uncharged(charge, counters[i]);
      }
    }
  }

  /**
   * Returns the decision of a charge that was refused and counted: it stays a refusal, although it
   * may fit without the request's other charges, which do not count.
   */
  private static Decision refusing(Decision charged, Decision refusal) {
    return charged.admitted() ? refusedFor(charged, refusal.retryAfterMillis()) : charged;
  }

  private static Decision refusedFor(Decision decision, long retryAfterMillis) {
    return Decision.refuse(
        decision.limit(), decision.remaining(), decision.resetAfterMillis(), retryAfterMillis);
  }

  /**
   * Extends the retry time of a refused charge until earlier charges on its counter fit together
   * with it.
   */
  private void waitForAllOfACounter() {
    for (int i = 1; i < charges.length; i++) {
      Decision refusal = decisions[i];
      if (refusal.admitted()) {
        continue;
      }
      long together = charges[i].cost();
      for (int j = 0; j < i && together > 0; j++) {
        if (counters[j].order == counters[i].order) {
          // Refunds (below 0) do not count; the sum saturates.
          together = Math.min(Cost.MAX, together + Math.max(0, charges[j].cost()));
        }
      }
      if (together > charges[i].cost()) {
        Charge all = charges[i].withCost(together, Overrun.REFUSE);
        long wait = counters[i].retryAfterMillis(all, nowMillis);
        decisions[i] = refusedFor(refusal, Math.max(refusal.retryAfterMillis(), wait));
      }
    }
  }

  /** Returns the decision of a charge that was admitted but not counted. */
  private Decision uncharged(Charge charge, Counter counter) {
    Charge peek = charge.withCost(0, Overrun.COUNT);
    Decision seen = counter.chargeDraft(peek, nowMillis);
    return Decision.admit(seen.limit(), seen.remaining(), seen.resetAfterMillis());
  }

  private Counter[] distinctInOrder() {
    Counter[] sorted = counters.clone();
    Arrays.sort(sorted, IN_ORDER);
    int distinct = 0;
    for (Counter counter : sorted) {
      if (distinct == 0 || sorted[distinct - 1].order != counter.order) {
        sorted[distinct++] = counter;
      }
    }
    return distinct == sorted.length ? sorted : Arrays.copyOf(sorted, distinct);
  }
}
