package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.FairCoordinatorConformance;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisClusterFairCoordinatorConformanceTest extends FairCoordinatorConformance {
  @RegisterExtension private static final OneCluster cluster = new OneCluster();

  @Override
  protected GlobalCoordinator open(ManualTime clock) {
    cluster.flush();
    return Stores.coordinator(Stores.clusterWithLongDeadlines(cluster.urls()), clock);
  }
}
