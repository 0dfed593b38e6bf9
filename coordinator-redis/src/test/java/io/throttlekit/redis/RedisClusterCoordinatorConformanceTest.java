package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.GlobalCoordinatorConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisClusterCoordinatorConformanceTest extends GlobalCoordinatorConformance {
  @RegisterExtension private static final OneCluster cluster = new OneCluster();

  @Override
  protected GlobalCoordinator open(ManualTime clock) {
    cluster.flush();
    return Stores.coordinator(Stores.clusterWithLongDeadlines(cluster.urls()), clock);
  }
}
