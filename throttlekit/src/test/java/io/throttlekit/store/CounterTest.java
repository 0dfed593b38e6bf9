package io.throttlekit.store;

import static io.throttlekit.store.Charges.charge;
import static io.throttlekit.store.Charges.key;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import java.lang.ref.WeakReference;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CounterTest {
  private static final long NOW = 0;
  private static final long SECOND = 1_000;

  private final FixedWindow window = new FixedWindow(5, SECOND);
  private final SlidingLog log = new SlidingLog(5, SECOND);

  @Test
  void aRetiredCounterHoldsNoStateAndAcceptsNoCharge() {
    Counter counter = counter(log);
    Charge charge = charge(log, "a", 1);
    assertThat(counter.charge(charge, NOW)).isNotNull();
    WeakReference<Object> state = stateOf(counter);
    assertThat(counter.retire(NOW)).as("counted something").isTrue();
    for (int i = 0; i < 100 && state.get() != null; i++) {
      System.gc();
    }
    assertThat(state.get()).isNull();
    assertThat(counter.charge(charge, NOW)).isNull();
  }

  @Test
  void theDateUntilWhichItIsKeptOnlyMovesForward() {
    Counter counter = counter(window);
    counter.keepUntil(300);
    counter.keepUntil(200);
    assertThat(counter.keptUntilMillis()).isEqualTo(300);
  }

  @Test
  void aCounterCanBeChargedForHalfASecondAfterItsLookUp() {
    Counter counter = counter(window);
    long nanos = TimeUnit.MILLISECONDS.toNanos(500);
    assertThat(new Lifetime().expireAfterRead(counter.key(), counter, 0, 1)).isEqualTo(nanos);
    assertThat(new Lifetime().expireAfterRead(counter.key(), counter, 0, nanos + 1))
        .isEqualTo(nanos + 1);
  }

  private static WeakReference<Object> stateOf(Counter counter) {
    assertThat(counter.hold()).isTrue();
    Object state = counter.draft;
    assertThat(state).isNotNull();
    counter.release(state);
    return new WeakReference<>(state);
  }

  private static Counter counter(RateAlgorithm<?> algorithm) {
    return new Counter(key(algorithm, "a"), 1, algorithm, 100);
  }
}
