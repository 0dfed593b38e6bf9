package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.ConcurrencyCoordinatorConformance;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.RecordedFleets;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisRecordedFleetsTest extends ConcurrencyCoordinatorConformance {
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final ManualTime clock = new ManualTime(1_700_000_000_000L);

  @Override
  protected ConcurrencyCoordinator open(Coordination terms) {
    redis.flush();
    return new RecordedFleets(Stores.records(Stores.longDeadlines(redis.url()), clock), terms);
  }

  @Override
  protected void advance(long millis) {
    clock.advance(millis);
  }
}
