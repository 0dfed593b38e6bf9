package io.throttlekit.redis;

import static io.throttlekit.redis.Leased.five;
import static io.throttlekit.redis.StoreCalls.acquire;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.grant;
import static io.throttlekit.redis.StoreCalls.left;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests what values of 58 KB leave in Redis. */
@RealRedis
class RedisLongKeysTest {
  private static final String VALUE = "x".repeat(58_000);

  @RegisterExtension private static final OneRedis redis = new OneRedis();

  @Test
  void takeAsLittleMemoryAsShortOnes() {
    try (RedisCounterStore store = Stores.open(redis.url(), TimeSource.system())) {
      acquire(store, "anybody", 1);
      long before = usedMemory();
      List<CompletableFuture<Outcome>> asked = new ArrayList<>();
      for (int i = 0; i < 781; i++) {
        asked.add(StoreCalls.ask(store, VALUE + i, 1).toCompletableFuture());
      }
      asked.forEach(each -> assertThat(answer(each).admitted()).isTrue());
      assertThat(usedMemory() - before).as("bytes in use").isLessThan(2_000_000);
      assertThat(redis.command("DBSIZE"))
          .as("an epoch, its history and a counter each")
          .isEqualTo("784");
      assertThat(longestKey()).isLessThan(200);
      assertThat(left(store, VALUE + 17)).isEqualTo(4);
      assertThat(grant(store, VALUE + 17, 9).units()).as("of the same counter").isEqualTo(4);
    }
  }

  @Test
  void ofAFederationTakeAsLittleMemory() {
    try (RedisGlobalCoordinator eu =
            Stores.coordinator(Stores.longDeadlines(redis.url()), StoreListener.NONE);
        RedisGlobalCoordinator us =
            Stores.coordinator(Stores.longDeadlines(redis.url()), StoreListener.NONE);
        RedisRegionalEscrow escrow =
            Stores.escrow(Stores.longDeadlines(redis.url()), StoreListener.NONE)) {
      assertThat(Leased.lease(eu, five(VALUE + 1), 3).units()).isEqualTo(3);
      assertThat(Leased.lease(us, five(VALUE + 1), 3).units()).as("another region").isEqualTo(2);
      assertThat(Leased.lease(us, five(VALUE + 2), 3).units()).as("another key").isEqualTo(3);
      long now = answer(escrow.health());
      answer(escrow.refill(new EscrowRefill(five(VALUE).key(), "1", now, now, now + 60_000, 7)));
      assertThat(answer(escrow.lease(five(VALUE).key(), 9)).units()).isEqualTo(7);
      assertThat(longestKey()).isLessThan(220);
    }
  }

  private static long usedMemory() {
    return redis
        .command("INFO", "memory")
        .lines()
        .filter(line -> line.startsWith("used_memory_dataset:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
        .findFirst()
        .orElseThrow();
  }

  private static int longestKey() {
    return redis.command("KEYS", "*").lines().mapToInt(String::length).max().orElseThrow();
  }
}
