package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringExchangeConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisSteeringExchangeConformanceTest extends SteeringExchangeConformance {
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  @Override
  protected SteeringExchange open(ManualTime clock) {
    redis.flush();
    return Stores.steering(Stores.longDeadlines(redis.url()), clock);
  }
}
