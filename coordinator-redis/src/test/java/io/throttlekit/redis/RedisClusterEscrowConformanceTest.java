package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.federation.RegionalEscrowConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisClusterEscrowConformanceTest extends RegionalEscrowConformance {
  @RegisterExtension private static final OneCluster cluster = new OneCluster();

  @Override
  protected RegionalEscrow open(ManualTime clock) {
    cluster.flush();
    return Stores.escrow(Stores.clusterWithLongDeadlines(cluster.urls()), clock);
  }
}
