package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.key;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests charges that are undone, at once or after charges of other requests. */
@RealRedis
class RedisRefundTest {
  private static final long START = 1_700_000_000_000L;
  private static final long MINUTE = 60_000;
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final ManualTime clock = new ManualTime(START);
  private RedisCounterStore store;
  private long undoneLate;

  @BeforeEach
  void open() {
    store = Stores.open(redis.url(), clock);
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** A charge and the reset after it. */
  private record Charged(
      Charge charge, boolean admitted, long chargedMillis, long countsToMillis) {}

  static List<RateAlgorithm<?>> algorithms() {
    return List.of(
        new FixedWindow(5, MINUTE),
        new SlidingWindow(5, MINUTE, 10),
        new SlidingLog(5, MINUTE),
        new Gcra(5, MINUTE),
        new TokenBucket(5, MINUTE));
  }

  static List<RateAlgorithm<?>> slidingAlgorithms() {
    return algorithms().subList(1, 3);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void aWholeChargeIsRefundedAtOnce(RateAlgorithm<?> algorithm) {
    charge(store, algorithm, 2);
    Charged charged = charge(store, algorithm, 3);
    assertThat(left(algorithm)).isZero();
    assertThat(undo(charged)).isEqualTo(3);
    assertThat(left(algorithm)).isEqualTo(3);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void refundingAnExpiredChargeFreesNothingOfOthers(RateAlgorithm<?> algorithm) {
    Charged charged = charge(store, algorithm, 2);
    clock.setWall(START + 2 * MINUTE);
    charge(store, algorithm, 3);
    assertThat(undo(charged)).isEqualTo(2);
    assertThat(left(algorithm)).isEqualTo(2);
  }

  /** Each ms pays off a unit; two charges made together are undone one after the other. */
  @Test
  void elapsedTimePaysNoChargeTwice() {
    Gcra pace = new Gcra(MINUTE, MINUTE);
    Charged a = charge(store, pace, 10);
    Charged b = charge(store, pace, 10);
    clock.setWall(START + 5);
    undo(a);
    clock.setWall(START + 10);
    charge(store, pace, 10);
    undo(b);
    assertThat(MINUTE - left(pace)).as("owed").isBetween(10L, 15L);
  }

  @ParameterizedTest
  @MethodSource("slidingAlgorithms")
  void aChargeIsRefundedAtItsOwnTime(RateAlgorithm<?> algorithm) {
    Charged charged = charge(store, algorithm, 2);
    clock.setWall(START + MINUTE / 2);
    charge(store, algorithm, 3);
    assertThat(undo(charged)).as("as if it had never been charged").isEqualTo(2);
    clock.setWall(START + MINUTE + MINUTE / 4);
    assertThat(left(algorithm)).as("other charges still count").isEqualTo(2);
  }

  @ParameterizedTest
  @MethodSource("slidingAlgorithms")
  void chargesBeforeAndAfterARefundedOneStay(RateAlgorithm<?> algorithm) {
    charge(store, algorithm, 1);
    clock.setWall(START + MINUTE / 4);
    charge(store, algorithm, 1);
    Charged charged = charge(store, algorithm, 1);
    clock.setWall(START + MINUTE / 2);
    charge(store, algorithm, 2);
    undo(charged);
    assertThat(left(algorithm)).isEqualTo(1);
    clock.setWall(START + MINUTE + MINUTE / 8);
    assertThat(left(algorithm)).as("without the oldest").isEqualTo(2);
    clock.setWall(START + MINUTE + 3 * MINUTE / 8);
    assertThat(left(algorithm)).as("without those of the same time").isEqualTo(3);
    clock.setWall(START + 2 * MINUTE);
    assertThat(left(algorithm)).isEqualTo(5);
  }

  @ParameterizedTest
  @MethodSource("slidingAlgorithms")
  void refundingAChargeTwiceFreesNothingOfOthers(RateAlgorithm<?> algorithm) {
    Charged charged = charge(store, algorithm, 2);
    charge(store, algorithm, -2);
    clock.setWall(START + MINUTE / 2);
    charge(store, algorithm, 3);
    assertThat(undo(charged)).isEqualTo(2);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void requestsAdmittedAfterARefundWouldBeAdmittedWithoutTheCharge(RateAlgorithm<?> algorithm) {
    for (long seed = 0; seed < 25; seed++) {
      redis.flush();
      history(algorithm, seed);
    }
    assertThat(undoneLate).as("undone when no longer counted").isGreaterThan(25);
  }

  private void history(RateAlgorithm<?> algorithm, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    InMemoryStore without = new InMemoryStore(clock, 1_000);
    Queue<Charged> toUndo = new ArrayDeque<>();
    for (int step = 0; step < 60; step++) {
      clock.setWall(clock.wallMillis() + random.nextLong(MINUTE / (1 + random.nextInt(9))));
      long cost = 1 + random.nextLong(3);
      int what = random.nextInt(3);
      if (what == 0 && toUndo.size() < 3) {
        Charged charged = charge(store, algorithm, cost);
        if (charged.admitted()) {
          toUndo.add(charged);
        }
      } else if (what == 1 && !toUndo.isEmpty()) {
        undo(toUndo.remove());
      } else if (charge(store, algorithm, cost).admitted()) {
        assertThat(charge(without, algorithm, cost).admitted())
            .as("%s, seed %d, step %d", algorithm, seed, step)
            .isTrue();
      }
    }
    toUndo.forEach(this::undo);
    long left = left(algorithm);
    long leftWithout =
        StoreCalls.answer(without.peek(key(algorithm, "a"), algorithm))
            .decisions()
            .getFirst()
            .remaining();
    if (algorithm instanceof SlidingWindow || algorithm instanceof SlidingLog) {
      assertThat(left).as("%s, seed %d, in the end", algorithm, seed).isEqualTo(leftWithout);
    } else {
      assertThat(left).as("%s, seed %d, in the end", algorithm, seed).isBetween(0L, leftWithout);
    }
  }

  private Charged charge(CounterStore by, RateAlgorithm<?> algorithm, long cost) {
    Charge charge = new Charge(key(algorithm, "a"), algorithm, cost, Overrun.REFUSE);
    Decision decision =
        answer(by.acquire(List.of(new Claim(Claim.Role.ENFORCED, List.of(charge)))))
            .decisions()
            .getFirst();
    long now = clock.wallMillis();
    return new Charged(charge, decision.admitted(), now, now + decision.resetAfterMillis());
  }

  /** Undoes a charge; returns what is left. */
  private long undo(Charged charged) {
    undoneLate += clock.wallMillis() >= charged.countsToMillis() ? 1 : 0;
    return answer(
            store.returnUnits(charged.charge(), charged.chargedMillis(), charged.countsToMillis()))
        .remaining();
  }

  private long left(RateAlgorithm<?> algorithm) {
    return answer(store.peek(key(algorithm, "a"), algorithm)).decisions().getFirst().remaining();
  }
}
