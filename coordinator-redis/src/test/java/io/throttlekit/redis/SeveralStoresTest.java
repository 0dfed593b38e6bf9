package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.HOUR;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.failure;
import static io.throttlekit.redis.StoreCalls.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.testkit.net.ReservedPort;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests whose counters are in two stores: that of short windows is called first. */
@RealRedis
class SeveralStoresTest {
  @RegisterExtension private static final OneRedis REDIS = new OneRedis();

  private static final FixedWindow SHORT = new FixedWindow(5, 1000L * 365 * 24 * HOUR);
  private static final FixedWindow LONG = new FixedWindow(5, 2000L * 365 * 24 * HOUR);

  private static RedisCounterStore shorter;
  private static RedisCounterStore longer;

  @BeforeAll
  static void connect() {
    shorter = open("short:", REDIS.url());
    longer = open("long:", REDIS.url());
  }

  private static RedisCounterStore open(String prefix, String url) {
    return Stores.connected(Stores.connect(Stores.longDeadlines(url).keyPrefix(prefix).settings()));
  }

  @AfterAll
  static void close() {
    shorter.close();
    longer.close();
  }

  @Test
  void eachCounterIsInItsOwnStoreOnly() {
    Outcome outcome = answer(acquire(claim(LONG, 2), claim(SHORT, 1)));
    assertThat(outcome.admitted()).isTrue();
    assertThat(outcome.decisions()).extracting("remaining").containsExactly(3L, 4L);
    assertThat(left(shorter, SHORT)).isEqualTo(4);
    assertThat(left(longer, LONG)).isEqualTo(3);
    assertThat(left(shorter, LONG)).isEqualTo(5);
    assertThat(left(longer, SHORT)).isEqualTo(5);
  }

  @Test
  void aRefusalByEitherStoreChargesNeither() {
    assertThat(answer(acquire(claim(SHORT, 1), claim(LONG, 6))).admitted()).isFalse();
    assertThat(left(shorter, SHORT)).as("returned").isEqualTo(5);
    assertThat(answer(acquire(claim(SHORT, 6), claim(LONG, 1))).admitted()).isFalse();
    assertThat(left(longer, LONG)).isEqualTo(5);
  }

  @Test
  void aRefusedClaimWithoutEffectChargesNeitherOfItsCounters() {
    Claim shadow = new Claim(Role.SHADOW, List.of(charge(SHORT, 1), charge(LONG, 6)));
    Outcome outcome = answer(acquire(shadow));
    assertThat(outcome.admitted()).isTrue();
    assertThat(outcome.decisions()).extracting("admitted").containsExactly(true, false);
    assertThat(left(shorter, SHORT)).isEqualTo(5);
  }

  @Test
  void refusedChargesThatAlwaysCountAreCountedInBothStores() {
    Charge counted = new Charge(key(SHORT, "a"), SHORT, 2, Overrun.COUNT);
    Claim always = new Claim(Role.ENFORCED, List.of(counted));
    assertThat(answer(acquire(always, claim(LONG, 6))).admitted()).isFalse();
    assertThat(left(shorter, SHORT)).isEqualTo(3);
  }

  @Test
  void aFailureOfTheFirstStoreConcernsItsChargesAndCountsNone() {
    try (RedisCounterStore none = unreachable()) {
      StoreException failure = failed(acquire(none, longer, claim(LONG, 1), claim(SHORT, 1)));
      assertThat(failure.part()).isEqualTo(new StoreException.Part(Set.of(1), Map.of()));
      assertThat(left(longer, LONG)).isEqualTo(5);
    }
  }

  @Test
  void aFailureOfTheSecondStoreReportsWhatTheFirstHasCounted() {
    try (RedisCounterStore none = unreachable()) {
      StoreException failure = failed(acquire(shorter, none, claim(LONG, 1), claim(SHORT, 1)));
      StoreException.Part part = Objects.requireNonNull(failure.part());
      assertThat(part.failed()).containsExactly(0);
      assertThat(part.decided().keySet()).containsExactly(1);
      assertThat(Objects.requireNonNull(part.decided().get(1)).remaining()).isEqualTo(4);
      assertThat(left(shorter, SHORT)).isEqualTo(4);
    }
  }

  @Test
  void aRequestWithMoreCountersThanAScriptNumbersIsInvalid() {
    Claim largest =
        new Claim(Role.ENFORCED, Collections.nCopies(0xF000, charge(SHORT, 1)), DataLoss.REFILL);
    assertThatThrownBy(() -> acquire(largest, claim(LONG, 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("61441 keys of counters are more than 61440");
  }

  private static StoreException failed(CompletionStage<Outcome> stage) {
    return (StoreException) failure(stage);
  }

  /** Returns a store whose circuit breaker opens at the first refused connection. */
  private static RedisCounterStore unreachable() {
    try (ReservedPort port = ReservedPort.take()) {
      return Stores.connect(
          Wanted.redis("redis://127.0.0.1:" + port.number())
              .deadlines(50, 50)
              .breaker(1, 60_000, 60_000)
              .settings());
    }
  }

  private CompletionStage<Outcome> acquire(Claim... claims) {
    return acquire(shorter, longer, claims);
  }

  private static CompletionStage<Outcome> acquire(
      RedisCounterStore first, RedisCounterStore second, Claim... claims) {
    return RedisCounterStore.acquire(
        List.of(first, second),
        charge -> charge.algorithm().equals(SHORT) ? 0 : 1,
        List.of(claims),
        Long.MAX_VALUE);
  }

  private static Claim claim(FixedWindow window, long cost) {
    return StoreCalls.claim(window, "a", cost, DataLoss.REFILL);
  }

  private static Charge charge(FixedWindow window, long cost) {
    return claim(window, cost).charges().getFirst();
  }

  private static long left(RedisCounterStore store, FixedWindow window) {
    return answer(store.peek(key(window, "a"), window)).decisions().getFirst().remaining();
  }
}
