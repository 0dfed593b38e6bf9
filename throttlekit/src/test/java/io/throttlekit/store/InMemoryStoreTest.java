package io.throttlekit.store;

import static io.throttlekit.store.Charges.charge;
import static io.throttlekit.store.Charges.enforced;
import static io.throttlekit.store.Charges.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests which counters the store keeps, for how long, and how it reports those that it could not
 * keep.
 */
class InMemoryStoreTest {
  private static final long HOUR = 3_600_000;

  private final ManualTime time = new ManualTime(0);
  private final FixedWindow hourly = new FixedWindow(5, HOUR);

  static List<RateAlgorithm<?>> algorithms() {
    return Charges.hourly(5);
  }

  @Test
  void rejectsACapacityOfZero() {
    assertThatIllegalArgumentException().isThrownBy(() -> new InMemoryStore(time, 0));
  }

  @Test
  void keepsAHotCounterThroughAFloodOfOthers() {
    InMemoryStore store = new InMemoryStore(time, 100);
    for (int i = 0; i < 5; i++) {
      assertThat(store.decide(charge(hourly, "hot", 1)).admitted()).isTrue();
    }
    for (int i = 0; i < 20_000; i++) {
      store.decide(charge(hourly, "once" + i, 1));
      if (i % 10 == 0) {
        assertThat(store.decide(charge(hourly, "hot", 1)).admitted()).isFalse();
      }
    }
    assertThat(store.size()).isLessThanOrEqualTo(100);
    assertThat(store.forgotten()).isGreaterThanOrEqualTo(19_000);
  }

  @Test
  void decidesARequestWithMoreCountersThanFit() {
    for (int max : new int[] {1, 2, 100, 1_000}) {
      InMemoryStore store = new InMemoryStore(time, max);
      Claim[] claims = new Claim[max + 50];
      for (int i = 0; i < claims.length; i++) {
        claims[i] = enforced(charge(hourly, "user" + i, 1), charge(hourly, "all", 0));
      }
      Outcome outcome = store.decide(List.of(claims));
      assertThat(outcome.admitted()).isTrue();
      assertThat(outcome.decisions()).hasSize(2 * claims.length);
      assertThat(store.forgotten()).isPositive();
    }
  }

  @Test
  void countsALongLogAsSeveralCountersAndALongKeyAsOne() {
    InMemoryStore store = new InMemoryStore(time, 1_600);
    String longName = "x".repeat(12_800);
    for (int i = 0; i < 1_000; i++) {
      store.decide(charge(hourly, longName + i, 1));
    }
    assertThat(store.size()).isEqualTo(1_000);
    InMemoryStore logs = new InMemoryStore(time, 1_600);
    for (int i = 0; i < 1_000; i++) {
      logs.decide(charge(new SlidingLog(396, HOUR), "user" + i, 1));
    }
    assertThat(logs.size()).isBetween(10L, 16L);
  }

  @Test
  void aCounterThatIsTooHeavyForTheStoreStillCounts() {
    InMemoryStore store = new InMemoryStore(time, 4);
    Charge heavy = charge(new SlidingLog(200_000, HOUR), "x".repeat(10_000), 120_000);
    assertThat(store.decide(heavy).admitted()).isTrue();
    assertThat(store.decide(heavy).admitted()).isFalse();
  }

  @Test
  void doesNotCountAnUnusedCounterAsEvicted() {
    InMemoryStore store = new InMemoryStore(time, 10);
    for (int i = 0; i < 10; i++) {
      store.decide(charge(hourly, "user" + i, 1));
      store.decide(charge(hourly, "user" + i, -1));
    }
    for (int i = 0; i < 500; i++) {
      CounterKey key = key(hourly, "other" + i);
      store.decide(new Charge(key, hourly, 1, Overrun.REFUSE));
      store.decide(new Charge(key, hourly, -1, Overrun.REFUSE));
    }
    assertThat(store.size()).isLessThanOrEqualTo(10);
    assertThat(store.forgotten()).isZero();
  }

  @Test
  void keepsNothingForAPeekRefundOrRefusalOfAnUnusedCounter() {
    InMemoryStore store = new InMemoryStore(time, 10);
    assertThat(store.decide(charge(hourly, "a", 0)).remaining()).isEqualTo(5);
    assertThat(store.decide(charge(hourly, "a", -1)).remaining()).isEqualTo(5);
    assertThat(store.decide(charge(hourly, "a", 6)).neverFits()).isTrue();
    assertThat(store.size()).isZero();
  }

  @Test
  void requestsThatCountNothingEvictNothing() {
    InMemoryStore store = new InMemoryStore(time, 100);
    FixedWindow one = new FixedWindow(1, HOUR);
    for (int i = 0; i < 80; i++) {
      assertThat(store.decide(charge(one, "user" + i, 1)).admitted()).isTrue();
    }
    for (int i = 0; i < 5_000; i++) {
      Claim usedUp = enforced(charge(one, "user" + i % 80, 1));
      assertThat(store.decide(List.of(enforced(charge(one, "other" + i, 1)), usedUp)).admitted())
          .isFalse();
    }
    assertThat(store.forgotten()).isZero();
    assertThat(store.size()).isEqualTo(80);
  }

  @Test
  void anEvictedCounterIsNotRetained() {
    InMemoryStore store = new InMemoryStore(time, 1_000);
    List<WeakReference<CounterKey>> keys = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      keys.add(chargedOften(store, "user" + i));
    }
    time.advance(HOUR);
    assertThat(store.size()).isZero();
    for (int i = 0; i < 100 && keys.stream().anyMatch(key -> key.get() != null); i++) {
      System.gc();
    }
    assertThat(keys).allSatisfy(key -> assertThat(key.get()).isNull());
  }

  private static WeakReference<CounterKey> chargedOften(InMemoryStore store, String user) {
    Charge charge = charge(new SlidingLog(100, 1_000), user, 1);
    for (int n = 0; n < 50; n++) {
      store.decide(charge);
    }
    return new WeakReference<>(charge.key());
  }

  @Test
  void aResetCounterStartsAtZeroAndIsNotAnEviction() {
    InMemoryStore store = new InMemoryStore(time, 10);
    store.decide(charge(hourly, "a", 5));
    store.reset(key(hourly, "a"), hourly);
    store.reset(key(hourly, "never seen"), hourly);
    assertThat(store.decide(charge(hourly, "a", 5)).admitted()).isTrue();
    assertThat(store.forgotten()).isZero();
  }

  @Test
  void aCounterInUseIsNotLostWhenItExpires() {
    InMemoryStore store = new InMemoryStore(time, 10);
    FixedWindow ten = new FixedWindow(10, HOUR);
    for (int i = 0; i < 6; i++) {
      store.decide(charge(ten, "a", 1)); // its 7th request does not call the cache
    }
    time.advance(1_000 * HOUR);
    assertThat(store.decide(charge(ten, "a", 1)).remaining()).isEqualTo(9);
    assertThat(store.size()).isEqualTo(1);
    assertThat(store.decide(charge(ten, "a", 1)).remaining()).isEqualTo(8);
    assertThat(store.forgotten()).isZero();
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void countersAreRemovedOnceTheyAreUnused(RateAlgorithm<?> algorithm) {
    InMemoryStore store = new InMemoryStore(time, 1000);
    long whole = 0;
    for (int i = 0; i < 100; i++) {
      whole = store.decide(charge(algorithm, "user" + i, 2)).resetAfterMillis();
    }
    time.advance(whole - 1);
    assertThat(store.size()).isEqualTo(100);
    time.advance(2 * HOUR);
    assertThat(store.size()).isZero();
    assertThat(store.forgotten()).isZero();
  }

  @Test
  void keepsCountersOfJointChargesAsLongAsOfSingleCharges() {
    InMemoryStore store = new InMemoryStore(time, 1000);
    Gcra slow = new Gcra(1, HOUR, 1000);
    store.decide(List.of(enforced(charge(slow, "a", 1000)), enforced(charge(hourly, "b", 1))));
    time.advance(999 * HOUR);
    assertThat(store.decide(charge(slow, "a", 0)).remaining()).isEqualTo(999);
    assertThat(store.forgotten()).isZero();
  }

  @Test
  void keepsALongDebtUntilItIsPaid() {
    InMemoryStore store = new InMemoryStore(time, 1000);
    Gcra perSecond = new Gcra(1, 1000, 1);
    store.decide(charge(perSecond, "a", 1));
    store.decide(charge(perSecond, "a", 100_000, Overrun.OVERDRAFT));
    time.advance(99_999_000);
    store.size();
    assertThat(store.decide(charge(perSecond, "a", 1)).retryAfterMillis()).isEqualTo(1000 + 1000);
    assertThat(store.forgotten()).isZero();
  }

  @Test
  void keepsAContinuouslyChargedCounter() {
    InMemoryStore store = new InMemoryStore(time, 1000);
    SlidingLog log = new SlidingLog(3, 10_000);
    long admitted = 0;
    for (int i = 0; i < 10_000; i++) {
      admitted += store.decide(charge(log, "a", 1)).admitted() ? 1 : 0;
      time.advance(100);
      store.size();
    }
    assertThat(admitted).isEqualTo(3 * 100);
    assertThat(store.forgotten()).isZero();
  }

  @Test
  void countsCountersEvictedByDisagreeingClocks() {
    InMemoryStore store = new InMemoryStore(time, 1000);
    store.decide(charge(hourly, "a", 5));
    time.advance(3 * HOUR);
    time.setWall(0);
    assertThat(store.size()).isZero();
    assertThat(store.forgotten()).isEqualTo(1);
  }

  @Test
  void reschedulesAtMostTwiceInAWindow() {
    Counter counter = new Counter(CounterKey.of("scope"), 1, hourly, Lifetime.firstDate(0, 1000));
    int moved = 0;
    for (long now = 0; now < 100_000; now++) {
      moved += Lifetime.extend(counter, now + 1000, 1000) ? 1 : 0;
    }
    assertThat(moved).isBetween(100, 200);
  }

  @Test
  void aChangedLimitKeepsTheCount() {
    InMemoryStore store = new InMemoryStore(time, 1000);
    store.decide(charge(hourly, "a", 5));
    FixedWindow raised = new FixedWindow(7, HOUR);
    FixedWindow lowered = new FixedWindow(2, HOUR);
    assertThat(store.decide(charge(raised, "a", 1))).isEqualTo(Decision.admit(7, 1, HOUR));
    assertThat(store.decide(charge(lowered, "a", 1))).isEqualTo(Decision.refuse(2, 0, HOUR, HOUR));
  }

  @Test
  void staysFastWithKeysOfEqualHashCodes() {
    InMemoryStore store = new InMemoryStore(time, 100_000);
    for (int i = 0; i < 1 << 15; i++) {
      StringBuilder name = new StringBuilder();
      for (int bit = 0; bit < 15; bit++) {
        name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      store.decide(charge(hourly, name.toString(), 1));
    }
    assertThat(store.size()).isEqualTo(1 << 15);
  }
}
