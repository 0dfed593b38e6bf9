package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.CounterStoreConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisConformanceTest extends CounterStoreConformance {
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  @Override
  protected CounterStore open(ManualTime clock) {
    redis.flush();
    return Stores.open(redis.url(), clock);
  }
}
