package io.throttlekit.store;

import io.throttlekit.Charge;
import io.throttlekit.Claim;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.rate.RateAlgorithm;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counters whose states are kept elsewhere, for as long as their keeper holds them for one moment:
 * decides there what {@link InMemoryStore} would.
 *
 * <p>A keeper locks the counters, reads its clock, {@linkplain #hold holds} each of them here,
 * asks, and writes the {@linkplain #state states} back. Not thread-safe.
 */
public final class HeldCounters {
  private final long nowMillis;
  private final long lossMillis;
  private final Map<CounterKey, Counter> counters = new HashMap<>();

  /**
   * No counters yet.
   *
   * @param nowMillis the keeper's clock, read when it had all the counters, in ms since the epoch
   * @param lossMillis when the keeper lost its data last, by the same clock; 0 if it never did
   */
  public HeldCounters(long nowMillis, long lossMillis) {
    this.nowMillis = nowMillis;
    this.lossMillis = lossMillis;
  }

  /**
   * Takes a counter in; one that is here already stays as it is.
   *
   * @param state of that algorithm, or null for an unused counter
   */
  public void hold(CounterKey key, RateAlgorithm<?> algorithm, @Nullable Object state) {
    if (!counters.containsKey(key)) {
      Counter counter = new Counter(key, counters.size(), algorithm, Long.MAX_VALUE);
      counter.hold();
      counter.release(state);
      counters.put(key, counter);
    }
  }

  /** The state of a counter that is held, after what was asked; null when it is unused. */
  public @Nullable Object state(CounterKey key) {
    Counter counter = held(key);
    counter.hold();
    Object state = counter.draft;
    counter.release(state);
    return state;
  }

  /** Decides and counts the claims of one request, all of whose counters are held. */
  public Outcome acquire(List<Claim> claims) {
    Settlement settlement =
        lossMillis == Denial.NO_LOSS
            ? new Settlement(claims, nowMillis)
            : new SettlementAfterLoss(claims, nowMillis, lossMillis);
    for (int i = 0; i < settlement.size(); i++) {
      settlement.use(i, held(settlement.charge(i).key()));
    }
    Outcome outcome = settlement.settle();
    if (outcome == null) {
      throw new IllegalStateException("a counter that is held was retired");
    }
    return outcome;
  }

  /** Counts as much of a lease as is left of its counter, which is held. */
  public Grant lease(LeaseRequest request) {
    long denied =
        request.onDataLoss() == DataLoss.DENY
            ? Denial.millisLeft(request.window(), lossMillis, nowMillis)
            : 0;
    return Leasing.grant(
        request,
        nowMillis,
        charge -> {
          Decision decision = denied > 0 ? look(charge) : decide(charge);
          return denied > 0 ? Denial.of(decision, denied) : decision;
        });
  }

  /** What is left of its counter, which is held, of what a call was granted before. */
  public Grant granted(LeaseRequest request, long units) {
    Grant rest = Leasing.look(request, nowMillis, this::decide);
    return new Grant(units, rest.windowEndMillis(), nowMillis, rest.left());
  }

  /** Gives units of a grant back, if the window of its counter, which is held, is theirs. */
  public void giveBack(LeaseRequest lease, long windowEndMillis, long units) {
    Leasing.giveBack(lease, windowEndMillis, units, nowMillis, this::decide);
  }

  private Decision decide(Charge charge) {
    Decision decision = held(charge.key()).charge(charge, nowMillis);
    if (decision == null) {
      throw new IllegalStateException("a counter that is held was retired");
    }
    return decision;
  }

  private Decision look(Charge charge) {
    return Counter.transition(charge, state(charge.key()), nowMillis).decision();
  }

  private Counter held(CounterKey key) {
    Counter counter = counters.get(key);
    if (counter == null) {
      throw new IllegalArgumentException("not held: " + key);
    }
    return counter;
  }
}
