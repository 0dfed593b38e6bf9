package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.ConcurrencyCoordinatorConformance;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.RecordedFleets;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisClusterRecordedFleetsTest extends ConcurrencyCoordinatorConformance {
  @RegisterExtension private static final OneCluster cluster = new OneCluster();

  private final ManualTime clock = new ManualTime(1_700_000_000_000L);

  @Override
  protected ConcurrencyCoordinator open(Coordination terms) {
    cluster.flush();
    return new RecordedFleets(
        Stores.records(Stores.clusterWithLongDeadlines(cluster.urls()), clock), terms);
  }

  @Override
  protected void advance(long millis) {
    clock.advance(millis);
  }
}
