package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.FIVE;
import static io.throttlekit.redis.StoreCalls.acquire;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.claim;
import static io.throttlekit.redis.StoreCalls.key;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A Redis that has lost its counters, and the keys that it keeps. */
@RealRedis
class RedisEpochTest {
  private static final long START = 1_700_000_000_000L;
  private static final long MINUTE = 60_000;
  private static final long WINDOW_END = START - START % MINUTE + MINUTE;
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final ManualTime clock = new ManualTime(START);
  private final FixedWindow window = new FixedWindow(5, MINUTE);
  private final Gcra gcra = new Gcra(5, MINUTE);
  private final RecordingListener listener = new RecordingListener();
  private final List<RedisCounterStore> opened = new ArrayList<>();

  @AfterEach
  void close() {
    opened.forEach(RedisCounterStore::close);
  }

  @Test
  void theFirstUseOfARedisIsNoLoss() {
    assertThat(charge(store(), window, DataLoss.DENY).admitted()).isTrue();
    assertThat(charge(store(), window, DataLoss.DENY).admitted()).isTrue();
    assertThat(redis.command("GET", "tk1:epoch")).endsWith(" 0");
  }

  @Test
  void refusesAfterALossUntilTheWindowEndsIfTheRuleDenies() {
    RedisCounterStore store = store();
    charge(store, window, DataLoss.DENY);
    redis.flush();
    assertThat(charge(store, window, DataLoss.DENY))
        .isEqualTo(Decision.refuse(5, 0, WINDOW_END - START, WINDOW_END - START));
    assertThat(charge(store, window, DataLoss.REFILL).admitted()).isTrue();
    clock.setWall(WINDOW_END - 1);
    assertThat(charge(store, window, DataLoss.DENY).admitted()).isFalse();
    assertThat(charge(store(), window, DataLoss.DENY).admitted()).isFalse();
    clock.setWall(WINDOW_END);
    assertThat(charge(store, window, DataLoss.DENY).admitted()).isTrue();
  }

  @Test
  void refusesOtherAlgorithmsForOneWindow() {
    RedisCounterStore store = store();
    charge(store, gcra, DataLoss.DENY);
    redis.flush();
    assertThat(charge(store, gcra, DataLoss.DENY).retryAfterMillis()).isEqualTo(MINUTE);
    clock.setWall(START + MINUTE);
    assertThat(charge(store, gcra, DataLoss.DENY).admitted()).isTrue();
  }

  @Test
  void refusesARequestIfOneClaimIsDenied() {
    RedisCounterStore store = store();
    charge(store, window, DataLoss.DENY);
    redis.flush();
    Outcome outcome =
        answer(
            store.acquire(
                List.of(
                    claim(window, "a", 1, DataLoss.REFILL), claim(window, "b", 1, DataLoss.DENY))));
    assertThat(outcome.admitted()).isFalse();
    assertThat(outcome.decisions().get(0).remaining()).isEqualTo(5);
    assertThat(outcome.decisions().get(1).admitted()).isFalse();
  }

  @Test
  void grantsNothingOfADeniedLease() {
    RedisCounterStore store = store();
    charge(store, window, DataLoss.DENY);
    redis.flush();
    LeaseRequest denied = new LeaseRequest(key(window, "a"), window, 3, DataLoss.DENY);
    assertThat(answer(store.lease(denied)).units()).isZero();
    assertThat(answer(store.lease(denied)).windowEndMillis()).isEqualTo(WINDOW_END);
    clock.setWall(WINDOW_END);
    assertThat(answer(store.lease(denied)).units()).isEqualTo(3);
  }

  @Test
  void aLossIsDetectedAlthoughANewProcessConnectedFirst() {
    RedisCounterStore old = store();
    charge(old, window, DataLoss.DENY);
    redis.flush();
    RedisCounterStore fresh =
        RedisCounterStore.connect(settings(), TimeSource.system(), listener, null);
    opened.add(Stores.connected(fresh));
    acquire(fresh, "x", 1);
    assertThat(redis.command("GET", "tk1:epoch")).endsWith(" 0");
    acquire(old, "x", 1);
    assertThat(redis.command("GET", "tk1:epoch")).doesNotEndWith(" 0");
    acquire(fresh, "x", 1);
    assertThat(listener.losses).hasSize(1);
  }

  @Test
  void olderDataAreALoss() {
    RedisCounterStore store =
        RedisCounterStore.connect(settings(), TimeSource.system(), listener, null);
    opened.add(Stores.connected(store));
    acquire(store, "x", 1);
    redis.command("SET", "tk1:epoch", "1000000 0");
    acquire(store, "x", 1);
    acquire(store, "x", 1);
    assertThat(redis.command("GET", "tk1:epoch")).doesNotEndWith(" 0");
    assertThat(listener.losses).hasSize(1);
  }

  @Test
  void keysExpireSoonAfterTheirCountersAreUnused() {
    RedisCounterStore real =
        RedisCounterStore.connect(settings(), TimeSource.system(), listener, null);
    opened.add(Stores.connected(real));
    for (RateAlgorithm<?> algorithm : List.of(window, gcra)) {
      Outcome outcome = answer(real.acquire(List.of(claim(algorithm, "a", 2, DataLoss.REFILL))));
      long reset = outcome.decisions().getFirst().resetAfterMillis();
      long ttl = Long.parseLong(redis.command("PTTL", "tk1:" + key(algorithm, "a")));
      assertThat(ttl).isBetween(reset - 20_000, reset + 1_100);
    }
    FixedWindow shortest = new FixedWindow(5, 1);
    answer(real.acquire(List.of(claim(shortest, "gone", 1, DataLoss.REFILL))));
    StoreCalls.await(
        "expired", () -> redis.command("EXISTS", "tk1:" + key(shortest, "gone")).equals("0"));
  }

  @Test
  void requestsThatCountNothingStoreNoKeys() {
    RedisCounterStore store = store();
    answer(store.peek(key(FIVE, "a"), FIVE));
    acquire(store, "a", 6);
    acquire(store, "a", -1);
    assertThat(redis.command("DBSIZE")).isEqualTo("2"); // the epoch, and the server's history
  }

  private static Decision charge(
      RedisCounterStore store, RateAlgorithm<?> algorithm, DataLoss onDataLoss) {
    return answer(store.acquire(List.of(claim(algorithm, "user", 1, onDataLoss))))
        .decisions()
        .getFirst();
  }

  private static RedisSettings settings() {
    return Stores.longDeadlines(redis.url()).settings();
  }

  private RedisCounterStore store() {
    RedisCounterStore store = Stores.open(redis.url(), clock);
    opened.add(store);
    return store;
  }
}
