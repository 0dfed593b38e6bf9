package io.throttlekit.store;

import io.throttlekit.Charge;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.Transition;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One counter of an {@link InMemoryStore}: a reference to the immutable state of an algorithm.
 *
 * <p>A single charge swaps the state by compare-and-set, and writes nothing when nothing changed. A
 * request with several charges holds its counters meanwhile: the reference is then a marker that
 * others wait for. A retired counter has left the store for good and takes no charge; whoever still
 * has it looks its key up again.
 */
@SuppressWarnings("ReferenceEquality") // markers and swapped states are meant by identity
final class Counter {
  private static final Object HELD = new Object();
  private static final Object RETIRED = new Object();
  private static final int SPINS = 200;
  private static final long PAUSE_NANOS = 20_000;
  private static final VarHandle STATE;
  private static final VarHandle KEPT_UNTIL;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(Counter.class, "state", Object.class);
      KEPT_UNTIL = lookup.findVarHandle(Counter.class, "keptUntilMillis", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final CounterKey key;

  /** Several counters are held in this order. */
  final long order;

  /** How often it was asked for, about. */
  int asked;

  /** The state that the holder works on. */
  @Nullable Object draft;

  private volatile @Nullable Object state;
  private volatile long keptUntilMillis;

  /** The newest algorithm seen: a reload may change the limit. Any of the newest does. */
  private RateAlgorithm<?> algorithm;

  Counter(CounterKey key, long order, RateAlgorithm<?> algorithm, long keptUntilMillis) {
    this.key = key;
    this.order = order;
    this.algorithm = algorithm;
    this.keptUntilMillis = keptUntilMillis;
  }

  RateAlgorithm<?> algorithm() {
    return algorithm;
  }

  /** Decides and counts one charge; null when this counter is retired. */
  @Nullable Decision charge(Charge charge, long nowMillis) {
    remember(charge.algorithm());
    while (true) {
      Object seen = settled();
      if (seen == RETIRED) {
        return null;
      }
      Transition<?> transition = transition(charge, seen, nowMillis);
      Object next = transition.state();
      if (next == seen || STATE.compareAndSet(this, seen, next)) {
        return transition.decision();
      }
      Thread.onSpinWait();
    }
  }

  /** Keeps others from this counter and makes its state the draft; false when it is retired. */
  boolean hold() {
    while (true) {
      Object seen = settled();
      if (seen == RETIRED) {
        return false;
      }
      if (STATE.compareAndSet(this, seen, HELD)) {
        draft = seen;
        return true;
      }
    }
  }

  /** Ends {@link #hold()} with {@code next} as the state. */
  void release(@Nullable Object next) {
    draft = null;
    state = next;
  }

  /** Applies {@code charge} to the draft of a held counter. */
  Decision chargeDraft(Charge charge, long nowMillis) {
    remember(charge.algorithm());
    Transition<?> transition = transition(charge, draft, nowMillis);
    draft = transition.state();
    return transition.decision();
  }

  /** Ends this counter, and says whether it still counted something. */
  boolean retire(long nowMillis) {
    while (true) {
      Object seen = settled();
      if (seen == RETIRED) {
        return false;
      }
      if (STATE.compareAndSet(this, seen, RETIRED)) {
        return seen != null && nowMillis < unusedFrom(algorithm, seen);
      }
    }
  }

  /** The wall-clock ms until which the store keeps this counter without being asked again. */
  long keptUntilMillis() {
    return keptUntilMillis;
  }

  /** Moves {@link #keptUntilMillis()} forward; never back. */
  void keepUntil(long millis) {
    long now = keptUntilMillis;
    while (now < millis && !KEPT_UNTIL.compareAndSet(this, now, millis)) {
      now = keptUntilMillis;
    }
  }

  static Transition<?> transition(Charge charge, @Nullable Object state, long nowMillis) {
    return transition(charge.algorithm(), state, nowMillis, charge);
  }

  /** The state, once nobody holds this counter. */
  private @Nullable Object settled() {
    int spins = 0;
    Object seen = state;
    while (seen == HELD) {
      if (++spins < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS); // the holder lost its processor
      }
      seen = state;
    }
    return seen;
  }

  private void remember(RateAlgorithm<?> newest) {
    if (algorithm != newest) {
      algorithm = newest;
    }
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
