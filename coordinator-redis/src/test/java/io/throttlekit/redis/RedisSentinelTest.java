package io.throttlekit.redis;

import static io.throttlekit.redis.Asked.acquire;
import static io.throttlekit.redis.Asked.answers;
import static io.throttlekit.redis.Asked.await;
import static io.throttlekit.redis.Asked.left;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A master that dies and whose replica takes over. */
@RealRedis
@Timeout(90)
class RedisSentinelTest {
  private final RedisProcess master = RedisProcess.start();
  private final RedisProcess replica =
      RedisProcess.start("--replicaof", "127.0.0.1", "" + master.port());
  private final RedisProcess sentinel = RedisProcess.start("--sentinel");
  private final Heard heard = new Heard();

  @AfterEach
  void stop() {
    sentinel.close();
    replica.close();
    master.close();
  }

  @Test
  void goesOnWithTheNewMasterAndItsCounts() {
    sentinel.command("SENTINEL", "MONITOR", "main", "127.0.0.1", "" + master.port(), "1");
    sentinel.command("SENTINEL", "SET", "main", "down-after-milliseconds", "500");
    sentinel.command("SENTINEL", "SET", "main", "failover-timeout", "5000");
    Wanted wanted =
        Wanted.redis("redis-sentinel://127.0.0.1:" + sentinel.port() + "#main")
            .deadlines(500, 2_000);
    try (RedisCounterStore store =
        RedisCounterStore.connect(wanted.settings(), TimeSource.system(), heard)) {
      await("connected", () -> answers(store));
      acquire(store, "a", 3);
      await("known", () -> sentinel.command("SENTINEL", "REPLICAS", "main").contains("slave"));
      await("replicated", () -> replica.command("DBSIZE").equals("2"));
      master.kill();
      await("failed over", () -> answers(store));
      assertThat(replica.command("ROLE")).startsWith("master");
      assertThat(left(store, "a")).isEqualTo(2);
      assertThat(heard.losses).isEmpty();
    }
  }
}
