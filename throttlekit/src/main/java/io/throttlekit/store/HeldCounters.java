package io.throttlekit.store;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.rate.RateAlgorithm;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides on counters whose states are stored elsewhere and locked there, with the results of
 * {@link InMemoryStore}.
 *
 * <p>The caller locks the counters in its store, reads its clock, {@linkplain #hold adds} each of
 * them, requests decisions, and writes the {@linkplain #state states} back. Not thread-safe.
 */
public final class HeldCounters {
  private final long nowMillis;
  private final long lossMillis;
  private final Map<CounterKey, Counter> counters = new HashMap<>();

  /**
   * Creates an object without counters.
   *
   * @param nowMillis the store's clock, read after all counters were locked, in ms since the epoch
   * @param lossMillis when the store last lost its data, by the same clock; 0 for never
   */
  public HeldCounters(long nowMillis, long lossMillis) {
    this.nowMillis = nowMillis;
    this.lossMillis = lossMillis;
  }

  /**
   * Adds a counter; one that was added before keeps its state.
   *
   * @param state of that algorithm, or null for an unused counter; a {@link
   *     io.throttlekit.fairness.FairPool} for a counter that tenants share, which the decisions
   *     change
   */
  public void hold(CounterKey key, RateAlgorithm<?> algorithm, @Nullable Object state) {
    if (!counters.containsKey(key)) {
      Counter counter = new Counter(key, counters.size(), algorithm, Long.MAX_VALUE);
      counter.hold();
      counter.release(state);
      counters.put(key, counter);
    }
  }

  /**
   * Returns the state of an added counter, which no tenants share, after the decisions; null when
   * it is unused.
   */
  public @Nullable Object state(CounterKey key) {
    Counter counter = held(key);
    counter.hold();
    Object state = counter.draft;
    counter.release(state);
    return state;
  }

  /** Decides and counts the claims of one request, whose counters have all been added. */
  public Outcome acquire(List<Claim> claims) {
    Settlement settlement = new Settlement(claims, nowMillis, lossMillis);
    for (int i = 0; i < settlement.size(); i++) {
      settlement.use(i, held(settlement.charge(i).key()));
    }
    return notRetired(settlement.settle());
  }

  /** Grants and counts what is left of an added counter, up to the request. */
  public LeaseGrant lease(LeaseRequest request) {
    long denied =
        request.onDataLoss() == DataLoss.DENY
            ? Denial.millisLeft(request.window(), lossMillis, nowMillis)
            : 0;
    FairTenant tenant = request.tenant();
    if (tenant != null && denied == 0) {
      return notRetired(held(request.key()).lease(request, tenant, nowMillis));
    }
    return Leasing.grant(
        request, nowMillis, denied > 0 ? charge -> Denial.of(look(charge), denied) : this::decide);
  }

  /** Returns the units that a repeated call was granted before, with what is left now. */
  public LeaseGrant granted(LeaseRequest request, long units) {
    return Leasing.granted(request, units, nowMillis, this::decide);
  }

  /** Returns units of a grant, if the current window of the added counter is theirs. */
  public void returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    FairTenant tenant = lease.tenant();
    if (tenant == null) {
      Leasing.returnUnits(lease, windowEndMillis, units, nowMillis, this::decide);
    } else {
      held(lease.key()).refund(tenant, units, windowEndMillis, nowMillis);
    }
  }

  private Decision decide(Charge charge) {
    return notRetired(held(charge.key()).charge(charge, nowMillis));
  }

  private static <T> T notRetired(@Nullable T result) {
    if (result == null) {
      throw new IllegalStateException("a counter that is held was retired");
    }
    return result;
  }

  /** Returns the decision of a charge that does not count. A tenant becomes active. */
  private Decision look(Charge charge) {
    Counter counter = held(charge.key());
    counter.hold();
    Object found = counter.draft;
    Decision decision = counter.chargeDraft(charge, nowMillis);
    counter.restore(found);
    counter.release();
    return decision;
  }

  private Counter held(CounterKey key) {
    Counter counter = counters.get(key);
    if (counter == null) {
      throw new IllegalArgumentException("not held: " + key);
    }
    return counter;
  }
}
