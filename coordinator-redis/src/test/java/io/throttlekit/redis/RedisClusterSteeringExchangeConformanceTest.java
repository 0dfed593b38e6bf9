package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringExchangeConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisClusterSteeringExchangeConformanceTest extends SteeringExchangeConformance {
  @RegisterExtension private static final OneCluster cluster = new OneCluster();

  @Override
  protected SteeringExchange open(ManualTime clock) {
    cluster.flush();
    return Stores.steering(Stores.clusterWithLongDeadlines(cluster.urls()), clock);
  }
}
