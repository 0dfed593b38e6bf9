package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * A store of fixed windows that keeps accounts of its counts: it reads a counter before and after
 * each call. A request must not charge a counter that it refunds. For one thread.
 */
final class CountingStore implements CounterStore {
  private final InMemoryStore store;
  private final TimeSource time;
  private final Map<Slot, Long> refunded = new HashMap<>();
  private long counted;
  private long ineffectiveReturns;

  /** A window of a counter. */
  record Slot(CounterKey key, long window) {

    /** Returns the window of {@code charge} at a time. */
    static Slot of(Charge charge, long millis) {
      return new Slot(charge.key(), Math.floorDiv(millis, charge.algorithm().windowMillis()));
    }
  }

  CountingStore(TimeSource time) {
    this.store = new InMemoryStore(time, 1_000);
    this.time = time;
  }

  /** Returns the units counted in all windows: charged and leased, less returned. */
  long counted() {
    return counted;
  }

  /** Returns the units whose return had no effect, because their window had ended. */
  long ineffectiveReturns() {
    return ineffectiveReturns;
  }

  /** Returns the units that refunds took off each window. */
  Map<Slot, Long> refunded() {
    return refunded;
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    Set<CounterKey> seen = new HashSet<>();
    List<Charge> each =
        claims.stream()
            .flatMap(claim -> claim.charges().stream())
            .filter(charge -> seen.add(charge.key()))
            .toList();
    long[] before = each.stream().mapToLong(this::used).toArray();
    CompletionStage<Outcome> outcome = store.acquire(claims);
    for (int i = 0; i < before.length; i++) {
      Charge charge = each.get(i);
      long more = used(charge) - before[i];
      counted += more;
      if (charge.cost() < 0) {
        refunded.merge(Slot.of(charge, time.wallMillis()), -more, Long::sum);
      }
    }
    return outcome;
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    long before = used(request);
    CompletionStage<LeaseGrant> grant = store.lease(request);
    counted += used(request) - before;
    return grant;
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    long before = used(lease);
    CompletionStage<Void> done = store.returnUnits(lease, windowEndMillis, units);
    long back = before - used(lease);
    counted -= back;
    ineffectiveReturns += units - back;
    return done;
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    throw new UnsupportedOperationException("nothing here resets");
  }

  @Override
  public void close() {}

  private long used(Charge charge) {
    return used(charge.key(), (FixedWindow) charge.algorithm());
  }

  private long used(LeaseRequest lease) {
    return used(lease.key(), lease.window());
  }

  private long used(CounterKey key, FixedWindow window) {
    return window.limit() - store.decide(new Charge(key, window, 0, Overrun.COUNT)).remaining();
  }
}
