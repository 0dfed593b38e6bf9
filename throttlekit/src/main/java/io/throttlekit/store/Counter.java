package io.throttlekit.store;

import io.throttlekit.Charge;
import io.throttlekit.Decision;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.Transition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One counter of an {@link InMemoryStore}: the state of an algorithm behind a lock of its own.
 *
 * <p>The lock is inherited to save an object per counter. All fields but the order are guarded by
 * it.
 */
final class Counter extends ReentrantLock {
  private static final long serialVersionUID = 1L;

  /** Locks of several counters are taken in this order. */
  final long order;

  private transient @Nullable Object state;
  private long unusedFromMillis = Long.MIN_VALUE;
  private boolean retired;

  Counter(long order) {
    super(false);
    this.order = order;
  }

  /** Applies {@code charge} and keeps the result. */
  Decision apply(Charge charge, long nowMillis) {
    Transition<?> transition = transition(charge, state, nowMillis);
    keep(charge.algorithm(), transition.state());
    return transition.decision();
  }

  @Nullable Object state() {
    return state;
  }

  @SuppressWarnings("ReferenceEquality") // an unchanged state is returned as the same object
  void keep(RateAlgorithm<?> algorithm, @Nullable Object next) {
    if (next != state) {
      state = next;
      unusedFromMillis = next == null ? Long.MIN_VALUE : unusedFrom(algorithm, next);
    }
  }

  /** Whether this counter would still decide differently from a fresh one. */
  boolean usedAt(long nowMillis) {
    return nowMillis < unusedFromMillis;
  }

  /** No store refers to this counter any more; whoever still holds it must look it up again. */
  void retire() {
    retired = true;
  }

  boolean isRetired() {
    return retired;
  }

  static Transition<?> transition(Charge charge, @Nullable Object state, long nowMillis) {
    return transition(charge.algorithm(), state, nowMillis, charge);
  }

  // A counter key names its algorithm, so every state under that key is that algorithm's.
  @SuppressWarnings("unchecked")
  private static <S> Transition<S> transition(
      RateAlgorithm<S> algorithm, @Nullable Object state, long nowMillis, Charge charge) {
    long cost = charge.cost();
    return cost < 0
        ? algorithm.refund((S) state, nowMillis, -cost)
        : algorithm.charge((S) state, nowMillis, cost, charge.overrun());
  }

  @SuppressWarnings("unchecked")
  private static <S> long unusedFrom(RateAlgorithm<S> algorithm, Object state) {
    return algorithm.unusedFromMillis((S) state);
  }
}
