package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.FairCoordinatorConformance;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisFairCoordinatorConformanceTest extends FairCoordinatorConformance {
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  @Override
  protected GlobalCoordinator open(ManualTime clock) {
    redis.flush();
    return Stores.coordinator(Stores.longDeadlines(redis.url()), clock);
  }
}
