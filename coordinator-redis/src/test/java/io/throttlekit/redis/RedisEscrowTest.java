package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.await;
import static io.throttlekit.redis.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the escrow on Redis beyond the conformance suite. */
@RealRedis
class RedisEscrowTest {
  private static final long HOUR = 3_600_000;
  private static final long WINDOW_END = 1_600_000_010_000L; // by the coordinator's clock
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final RecordingListener listener = new RecordingListener();
  private final List<AutoCloseable> opened = new ArrayList<>();

  static CounterKey key(String user) {
    return CounterKey.of("shop|fixed_window|10000", "user", user);
  }

  /** Returns units for an hour from {@code now} on. */
  static EscrowRefill refill(String user, String id, long now, long units) {
    return new EscrowRefill(key(user), id, WINDOW_END, now, now + HOUR, units);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  @Test
  void holdsTheLargestNumbersExactly() {
    RedisRegionalEscrow escrow = open();
    long now = answer(escrow.health());
    answer(escrow.refill(refill("a", "1", now, Cost.MAX - 1)));
    assertThat(answer(escrow.lease(key("a"), 3)).left()).isEqualTo(Cost.MAX - 4);
    answer(escrow.refill(refill("a", "2", now, Cost.MAX)));
    assertThat(answer(escrow.release(key("a"), WINDOW_END))).isEqualTo(Cost.MAX);
  }

  @Test
  void anEndBeyondAllTimeIsHeldExactly() {
    RedisRegionalEscrow escrow = open();
    EscrowRefill refill =
        new EscrowRefill(key("a"), "1", Long.MAX_VALUE, Long.MIN_VALUE, Long.MAX_VALUE, 2);
    assertThat(answer(escrow.refill(refill))).isTrue();
    EscrowGrant grant = answer(escrow.lease(key("a"), 1));
    assertThat(grant.units()).isEqualTo(1);
    assertThat(grant.windowEndMillis()).isEqualTo(Long.MAX_VALUE);
    assertThat(grant.beginsMillis()).isEqualTo(Long.MIN_VALUE);
    assertThat(grant.endsMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void keysExpireAfterTheirLastWindow() {
    RedisRegionalEscrow escrow = open();
    long now = answer(escrow.health());
    answer(escrow.refill(new EscrowRefill(key("a"), "1", WINDOW_END, now, now + 60_000, 5)));
    answer(escrow.refill(new EscrowRefill(key("a"), "2", WINDOW_END, now, now + 20_000, 5)));
    List<String> keys = keys();
    assertThat(keys).hasSize(2);
    assertThat(keys)
        .allSatisfy(each ->
            assertThat(Long.parseLong(redis.command("PTTL", each))).isBetween(50_000L, 70_000L));
  }

  @Test
  void endedUnitsStayEndedWhenTheClockStepsBack() {
    ManualTime clock = new ManualTime(WINDOW_END);
    RedisRegionalEscrow escrow = Stores.escrow(Stores.longDeadlines(redis.url()), clock);
    opened.add(escrow);
    EscrowRefill refill = refill("a", "1", WINDOW_END, 5);
    answer(escrow.refill(refill));
    clock.setWall(WINDOW_END + HOUR);
    assertThat(answer(escrow.lease(key("a"), 1)).units()).isZero();
    clock.setWall(WINDOW_END + HOUR - 1);
    assertThat(answer(escrow.lease(key("a"), 1)).units()).isZero();
    answer(escrow.refill(refill));
    assertThat(answer(escrow.lease(key("a"), 1)).units()).as("the same refill").isZero();
  }

  @Test
  void ofOverlappingWindowsTheOneThatEndsFirstIsSpent() {
    RedisRegionalEscrow escrow = open();
    long now = answer(escrow.health());
    for (long end : List.of(10_000L, 9_000L, 90_000L)) {
      answer(escrow.refill(new EscrowRefill(key("a"), "1", end, now, now + HOUR, 1)));
    }
    assertThat(answer(escrow.lease(key("a"), 1)).windowEndMillis()).isEqualTo(9_000);
    answer(escrow.refill(new EscrowRefill(key("b"), "1", 10_000, now, now + HOUR, 1)));
    answer(escrow.refill(new EscrowRefill(key("b"), "1", 90_000, now, now + HOUR, 1)));
    assertThat(answer(escrow.lease(key("b"), 1)).windowEndMillis()).isEqualTo(10_000);
  }

  @Test
  void namesWithSpecialCharactersNeverCollide() {
    RedisRegionalEscrow escrow = open();
    long now = answer(escrow.health());
    for (String text : RedisCoordinatorTest.STRANGE) {
      assertThat(answer(escrow.lease(key(text), 1)).units()).as("'%s'", text).isZero();
      answer(escrow.refill(refill(text, text, now, 1)));
      answer(escrow.refill(refill("all", text, now, 1)));
    }
    assertThat(answer(escrow.release(key("all"), WINDOW_END)))
        .isEqualTo(RedisCoordinatorTest.STRANGE.size());
  }

  @Test
  void processesOfARegionSpendEachUnitOnce() {
    RedisRegionalEscrow first = open();
    RedisRegionalEscrow second = open();
    long now = answer(first.health());
    SplittableRandom random = new SplittableRandom(11);
    long in = 0;
    List<CompletableFuture<?>> refills = new ArrayList<>();
    List<CompletableFuture<EscrowGrant>> leases = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      RedisRegionalEscrow escrow = random.nextBoolean() ? first : second;
      if (random.nextInt(3) == 0) {
        long units = random.nextLong(1, 20);
        in += units;
        EscrowRefill refill = refill("a", "refill" + i, now, units);
        refills.add(first.refill(refill).toCompletableFuture());
        refills.add(second.refill(refill).toCompletableFuture()); // a repeated refill
      } else {
        leases.add(escrow.lease(key("a"), random.nextLong(1, 12)).toCompletableFuture());
      }
    }
    refills.forEach(StoreCalls::answer);
    long out = leases.stream().mapToLong(lease -> answer(lease).units()).sum();
    assertThat(out).as("seed 11").isPositive();
    assertThat(out + answer(first.release(key("a"), WINDOW_END))).as("seed 11").isEqualTo(in);
  }

  @Test
  void aHangingRedisFailsCallsByTheDeadlineUntilItRecovers() {
    RedisProcess own = RedisProcess.start();
    opened.add(own);
    RedisRegionalEscrow escrow =
        Stores.escrow(Wanted.redis(own.url()).deadlines(50, 500).breaker(3, 100, 20), listener);
    opened.addFirst(escrow);
    await("warm", () -> answers(escrow));
    own.hang();
    TimeSource time = TimeSource.system();
    long begun = time.monotonicNanos();
    Throwable late = failure(escrow.lease(key("a"), 1));
    assertThat(late).isInstanceOf(StoreException.class).hasMessageContaining("within 500 ms");
    assertThat((time.monotonicNanos() - begun) / 1_000_000).isGreaterThanOrEqualTo(499L);
    await("down", () -> !answers(escrow) && !listener.isUp());
    assertThat(listener.failures).contains(Failure.LEASE_DEADLINE);
    own.goOn();
    await("recovered", () -> answers(escrow));
    await("up", listener::isUp);
  }

  static boolean answers(RedisRegionalEscrow escrow) {
    try {
      answer(escrow.health());
      return true;
    } catch (CompletionException _) {
      return false;
    }
  }

  private static List<String> keys() {
    return redis.command("KEYS", "*").lines().filter(key -> !key.contains("epoch")).toList();
  }

  private RedisRegionalEscrow open() {
    RedisRegionalEscrow escrow = Stores.escrow(Stores.longDeadlines(redis.url()), listener);
    opened.add(escrow);
    return escrow;
  }
}
