package io.throttlekit.store;

import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.fairness.FairPool;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.rate.NumericState;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.Transition;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One counter of an {@link InMemoryStore}: the state of an algorithm, locked by one thread at a
 * time.
 *
 * <p>States of a few numbers are kept as plain fields: a state object for each charge would be
 * promoted out of the young generation before the next charge, and every collection would move it.
 * A request with several charges works on drafts of its counters. A retired counter has left the
 * store for good and accepts no charge; a thread that still holds a reference looks its key up
 * again.
 */
final class Counter extends Keyed {
  // Values of the status, which is a lock.
  private static final int FREE = 0;
  private static final int HELD = 1;
  private static final int RETIRED = 2;

  /** Spins before a waiting thread parks; a charge takes much less time. */
  private static final int SPINS = 200;

  /** The time that a waiting thread parks, so that the holder can be scheduled. */
  private static final long PAUSE_NANOS = 20_000;

  private static final AtomicIntegerFieldUpdater<Counter> STATUS = // no object per counter
      AtomicIntegerFieldUpdater.newUpdater(Counter.class, "status");
  private static final AtomicLongFieldUpdater<Counter> KEPT_UNTIL =
      AtomicLongFieldUpdater.newUpdater(Counter.class, "keptUntilMillis");

  /** The room for tenants that the store has weighed this counter by. */
  volatile int weighedRoom;

  /** The lock order of counters. */
  final long order;

  /** The state that the lock holder works on. */
  @Nullable Object draft;

  private volatile int status;
  private volatile long keptUntilMillis;

  /**
   * The newest algorithm seen, because a reload may change the limit. A race between newest ones is
   * harmless.
   */
  private RateAlgorithm<?> algorithm;

  private boolean used;
  private long first;
  private long second;
  private long third;
  private @Nullable Object other;

  Counter(CounterKey key, long order, RateAlgorithm<?> algorithm, long keptUntilMillis) {
    super(key);
    this.order = order;
    this.algorithm = algorithm;
    this.keptUntilMillis = keptUntilMillis;
  }

  RateAlgorithm<?> algorithm() {
    return algorithm;
  }

  /** Decides and counts one charge; null when this counter is retired. */
  @Nullable Decision charge(Charge charge, long nowMillis) {
    if (!take()) {
      return null;
    }
    try {
      remember(charge.algorithm());
      if (charge.tenant() != null) {
        return chargePool(charge, charge.tenant(), nowMillis);
      }
      return count(charge.algorithm(), charge, nowMillis);
    } finally {
      STATUS.lazySet(this, FREE);
    }
  }

  /** Leases units to a tenant; null when this counter is retired. */
  @Nullable LeaseGrant lease(LeaseRequest request, FairTenant tenant, long nowMillis) {
    if (!take()) {
      return null;
    }
    try {
      remember(request.window());
      return Leasing.ofTenant(poolFor(tenant), request, tenant, nowMillis);
    } finally {
      STATUS.lazySet(this, FREE);
    }
  }

  /** Refunds units to a tenant of this counter, if the current window is theirs. */
  void refund(FairTenant tenant, long units, long windowEndMillis, long nowMillis) {
    if (take()) { // what a retired counter has counted is lost
      try {
        if (other instanceof FairPool pool) {
          var _ = pool.refund(tenant, units, windowEndMillis, nowMillis);
        }
      } finally {
        STATUS.lazySet(this, FREE);
      }
    }
  }

  /** Locks this counter and makes its state the draft; false when it is retired. */
  boolean hold() {
    if (!take()) {
      return false;
    }
    Object state = load(algorithm);
    draft = state instanceof FairPool pool ? PoolDraft.of(pool) : state;
    return true;
  }

  /** Sets the draft of a held counter back to an earlier one. */
  void restore(@Nullable Object earlier) {
    if (draft instanceof PoolDraft pool) {
      pool.undoUntil(earlier);
      draft = earlier == null ? PoolDraft.of(pool.pool()) : earlier; // its tenants are active
      return;
    }
    draft = earlier;
  }

  /** Unlocks this counter after {@link #hold()}, with the draft as the state. */
  void release() {
    release(draft);
  }

  /** Unlocks this counter after {@link #hold()}, with {@code next} as the state. */
  void release(@Nullable Object next) {
    draft = null;
    store(algorithm, next instanceof PoolDraft pool ? pool.pool() : next);
    STATUS.lazySet(this, FREE);
  }

  /** Applies {@code charge} to the draft of a held counter. */
  Decision chargeDraft(Charge charge, long nowMillis) {
    remember(charge.algorithm());
    FairTenant tenant = charge.tenant();
    if (tenant != null && (draft != null || charge.cost() > 0)) {
      PoolDraft before =
          draft == null ? PoolDraft.of(new FairPool(tenant.terms())) : (PoolDraft) draft;
      PoolDraft after = before.charge(tenant, charge, nowMillis);
      draft = after;
      return after.decision();
    }
    Transition<?> transition = transition(charge, draft, nowMillis);
    draft = transition.state();
    return transition.decision();
  }

  /**
   * Returns for how many ms a refusal of {@code charge} by the draft of this held counter lasts.
   */
  long retryAfterMillis(Charge charge, long nowMillis) {
    // A refusal by a pool already lasts until its window ends; only a cost above the limit never
    // fits, also into an unused one.
    Object state = charge.tenant() == null ? draft : null;
    return transition(charge, state, nowMillis).decision().retryAfterMillis();
  }

  /** Returns how many tenants this counter has room for; 0 if no tenants share it. */
  int room() {
    return other instanceof FairPool pool ? pool.room() : 0;
  }

  /** Forgets one tenant of this counter. */
  void resetTenant(FairTenant tenant) {
    if (take()) {
      try {
        if (other instanceof FairPool pool) {
          pool.reset(tenant);
        }
      } finally {
        STATUS.lazySet(this, FREE);
      }
    }
  }

  /** Retires this counter; returns whether it still counted something. */
  boolean retire(long nowMillis) {
    if (!take()) {
      return false;
    }
    Object last = load(algorithm);
    used = false; // references that remain must not retain the state
    other = null;
    STATUS.set(this, RETIRED);
    return last != null
        && nowMillis
            < (last instanceof FairPool pool
                ? pool.unusedFromMillis()
                : unusedFrom(algorithm, last));
  }

  /** Returns whether this counter has left the store for good. */
  @Override
  public boolean isRetired() {
    return status == RETIRED;
  }

  /** Returns the wall-clock ms until which the store keeps this counter without another charge. */
  long keptUntilMillis() {
    return keptUntilMillis;
  }

  /** Moves {@link #keptUntilMillis()} forward, never back. */
  void keepUntil(long millis) {
    long now = keptUntilMillis;
    while (now < millis && !KEPT_UNTIL.compareAndSet(this, now, millis)) {
      now = keptUntilMillis;
    }
  }

  static Transition<?> transition(Charge charge, @Nullable Object state, long nowMillis) {
    return uncertain(charge.algorithm(), state, nowMillis, charge);
  }

  private static <S> Transition<S> uncertain(
      RateAlgorithm<S> algorithm, @Nullable Object state, long nowMillis, Charge charge) {
    S known = state == null ? null : cast(state);
    return transition(algorithm, known, nowMillis, charge);
  }

  /** Waits for the lock; false when this counter is retired. */
  private boolean take() {
    int spins = 0;
    while (!STATUS.compareAndSet(this, FREE, HELD)) {
      if (status == RETIRED) {
        return false;
      }
      if (++spins < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS); // the holder was descheduled
      }
    }
    return true;
  }

  @SuppressWarnings("ReferenceEquality") // an unchanged state is the same object
  private <S> Decision count(RateAlgorithm<S> algorithm, Charge charge, long nowMillis) {
    S state = load(algorithm);
    Transition<S> transition = transition(algorithm, state, nowMillis, charge);
    if (transition.state() != state) {
      store(algorithm, transition.state());
    }
    return transition.decision();
  }

  private Decision chargePool(Charge charge, FairTenant tenant, long nowMillis) {
    long cost = charge.cost();
    if (other == null && cost <= 0) {
      return transition(charge, null, nowMillis).decision(); // an unused one has the whole limit
    }
    FairPool pool = poolFor(tenant);
    if (cost > 0) {
      return pool.charge(tenant, cost, charge.overrun(), nowMillis).decision();
    }
    return cost == 0
        ? pool.look(tenant, charge.overrun(), nowMillis)
        : pool.refund(tenant, -cost, nowMillis);
  }

  private FairPool poolFor(FairTenant tenant) {
    FairPool pool = (FairPool) other;
    if (pool == null) {
      pool = new FairPool(tenant.terms());
      other = pool;
    }
    return pool;
  }

  private <S> @Nullable S load(RateAlgorithm<S> algorithm) {
    if (used && algorithm instanceof NumericState<S> numbers) {
      return numbers.state(first, second, third);
    }
    Object kept = other;
    return kept == null ? null : cast(kept);
  }

  private <S> void store(RateAlgorithm<S> algorithm, @Nullable Object next) {
    if (next instanceof FairPool) {
      other = next;
      return;
    }
    // an unneeded write would invalidate other processors' cache lines
    if (used != (next != null)) {
      used = next != null;
    }
    if (next != null && algorithm instanceof NumericState<S> numbers) {
      S state = cast(next);
      first = numbers.first(state);
      second = numbers.second(state);
      long last = numbers.third(state);
      if (third != last) {
        third = last;
      }
    } else {
      other = next;
    }
  }

  @SuppressWarnings("ReferenceEquality") // avoids writes of the same value
  private void remember(RateAlgorithm<?> newest) {
    if (algorithm != newest) {
      algorithm = newest;
    }
  }

  private static <S> Transition<S> transition(
      RateAlgorithm<S> algorithm, @Nullable S state, long nowMillis, Charge charge) {
    long cost = charge.cost();
    return cost < 0
        ? algorithm.refund(state, nowMillis, -cost)
        : algorithm.charge(state, nowMillis, cost, charge.overrun());
  }

  private static <S> long unusedFrom(RateAlgorithm<S> algorithm, Object state) {
    return algorithm.unusedFromMillis(cast(state));
  }

  /**
   * Casts a state. A counter key names its algorithm, so every state under it has that algorithm's
   * type.
   */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <S> S cast(Object state) {
    return (S) state;
  }
}
