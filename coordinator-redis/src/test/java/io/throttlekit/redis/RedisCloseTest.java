package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.key;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the units that a process returns when it shuts down. */
@RealRedis
class RedisCloseTest {
  private static final int COUNTERS = 2_000;

  private final FixedWindow window = new FixedWindow(10, 86_400_000);
  private final RedisProcess redis = RedisProcess.start();

  @AfterEach
  void stop() {
    redis.close();
  }

  @Test
  void allReturnsBeforeCloseArrive() {
    RedisCounterStore store = open(Stores.longDeadlines(redis.url()));
    List<CompletionStage<LeaseGrant>> leases = new ArrayList<>();
    for (int i = 0; i < COUNTERS; i++) {
      leases.add(store.lease(lease(i)));
    }
    leases.forEach(StoreCalls::answer);
    assertThat(redis.command("DBSIZE")).isEqualTo(String.valueOf(COUNTERS + 2));
    for (int i = 0; i < COUNTERS; i++) {
      var _ = store.returnUnits(lease(i), answer(leases.get(i)).windowEndMillis(), 10);
    }
    store.close();
    answer(store.ended().thenApply(_ -> true));
    try (RedisCounterStore next = Stores.open(redis.url(), TimeSource.system())) {
      for (int i = 0; i < COUNTERS; i++) {
        assertThat(answer(next.lease(lease(i))).units()).as("counter %d", i).isEqualTo(10);
      }
    }
  }

  @Test
  void aHangingRedisDelaysCloseByAtMostTheLeaseDeadline() {
    RedisCounterStore store = open(Stores.longDeadlines(redis.url()).deadlines(50, 300));
    redis.hang();
    CompletableFuture<LeaseGrant> lease = store.lease(lease(0)).toCompletableFuture();
    store.close();
    answer(store.ended().thenApply(_ -> true));
    assertThat(lease).isCompletedExceptionally();
  }

  /** The calls have no deadline before the end of the store. */
  @Test
  void pendingCallsFailBeforeAStoreEnds() {
    Wanted slow = Stores.longDeadlines(redis.url()).deadlines(20_000, 300);
    RedisCounterStore store = open(slow);
    RedisGlobalCoordinator coordinator = Stores.coordinator(slow, StoreListener.NONE);
    redis.hang();
    CompletionStage<Outcome> decision = StoreCalls.ask(store, "user", 1);
    LeaseGrant grant = new LeaseGrant(1, 1_000, 0, 0);
    CompletionStage<Boolean> units =
        Leased.returnUnits(coordinator, Leased.five("user"), "eu", "id", grant);
    assertFailedAtTheEnd(decision, store.ended(), store::close);
    assertFailedAtTheEnd(units, coordinator.ended(), coordinator::close);
  }

  /** Checks the call on the thread that completes {@code ended}, so that no later event counts. */
  private static void assertFailedAtTheEnd(
      CompletionStage<?> call, CompletionStage<?> ended, Runnable close) {
    CompletableFuture<Boolean> failedByThen =
        ended
            .thenApply(_ -> call.toCompletableFuture().isCompletedExceptionally())
            .toCompletableFuture();
    close.run();
    assertThat(answer(failedByThen)).isTrue();
  }

  private static RedisCounterStore open(Wanted wanted) {
    return Stores.connected(Stores.connect(wanted.settings()));
  }

  private LeaseRequest lease(int user) {
    return new LeaseRequest(key(window, "user-" + user), window, 10, DataLoss.REFILL);
  }
}
