package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.share.ReleaseExchangeConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisReleaseExchangeConformanceTest extends ReleaseExchangeConformance {
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final ManualTime clock = new ManualTime(1_700_000_000_000L);

  @Override
  protected ReleaseExchange open() {
    redis.flush();
    return Stores.releases(Stores.longDeadlines(redis.url()), clock);
  }

  @Override
  protected void advance(long millis) {
    clock.advance(millis);
  }
}
