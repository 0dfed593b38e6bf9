package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.CounterStoreConformance;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

@RealRedis
class RedisConformanceTest extends CounterStoreConformance {
  private static RedisProcess redis;

  @BeforeAll
  static void start() {
    redis = RedisProcess.start();
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @Override
  protected CounterStore open(ManualTime clock) {
    redis.command("FLUSHALL");
    return Stores.open(redis.url(), clock);
  }
}
