package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.ConcurrencyCoordinatorDifferential;
import io.throttlekit.share.Coordination;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisConcurrencyDifferentialTest extends ConcurrencyCoordinatorDifferential {
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  @Override
  protected ConcurrencyCoordinator open(Coordination terms, ManualTime clock) {
    redis.flush();
    return Stores.concurrency(Stores.longDeadlines(redis.url()), terms, clock);
  }
}
