package io.throttlekit.redis;

import static io.throttlekit.redis.Asked.answer;
import static io.throttlekit.redis.Asked.key;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Grant;
import io.throttlekit.store.LeaseRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a process that ends still gives back. */
@RealRedis
@Timeout(60)
class RedisCloseTest {
  private static final int COUNTERS = 2_000;

  private final FixedWindow window = new FixedWindow(10, 86_400_000);
  private final RedisProcess redis = RedisProcess.start();

  @AfterEach
  void stop() {
    redis.close();
  }

  @Test
  void whatIsGivenBackAtTheEndArrivesHoweverMuchItIs() {
    RedisCounterStore store = open(Stores.patient(redis.url()));
    List<CompletionStage<Grant>> leases = new ArrayList<>();
    for (int i = 0; i < COUNTERS; i++) {
      leases.add(store.lease(lease(i)));
    }
    leases.forEach(Asked::answer);
    assertThat(redis.command("DBSIZE")).isEqualTo(String.valueOf(COUNTERS + 2));
    for (int i = 0; i < COUNTERS; i++) {
      var _ = store.giveBack(lease(i), answer(leases.get(i)).windowEndMillis(), 10);
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
  void aRedisThatHangsKeepsNobodyFromEndingForLongerThanALeaseMayTake() {
    RedisCounterStore store = open(Stores.patient(redis.url()).deadlines(50, 300));
    redis.hang();
    CompletableFuture<Grant> lease = store.lease(lease(0)).toCompletableFuture();
    store.close();
    answer(store.ended().thenApply(_ -> true));
    assertThat(lease).isCompletedExceptionally();
  }

  private static RedisCounterStore open(Wanted wanted) {
    return Stores.connected(RedisCounterStore.connect(wanted.settings(), TimeSource.system()));
  }

  private LeaseRequest lease(int user) {
    return new LeaseRequest(key(window, "user-" + user), window, 10, DataLoss.REFILL);
  }
}
