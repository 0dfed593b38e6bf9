package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.federation.RegionalEscrowConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisEscrowConformanceTest extends RegionalEscrowConformance {
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  @Override
  protected RegionalEscrow open(ManualTime clock) {
    redis.flush();
    return Stores.escrow(Stores.longDeadlines(redis.url()), clock);
  }
}
