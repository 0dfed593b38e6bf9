package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.FairStoreConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisClusterFairStoreConformanceTest extends FairStoreConformance {
  @RegisterExtension private static final OneCluster cluster = new OneCluster();

  private static int opened;

  @Override
  protected CounterStore open(ManualTime clock) {
    // Some tests compare two stores.
    Wanted wanted =
        Stores.clusterWithLongDeadlines(cluster.urls()).keyPrefix("store" + opened++ + ':');
    return Stores.connected(Stores.withClock(wanted.settings(), clock));
  }

  @Override
  protected int seeds() {
    return 1; // a round trip takes longer than a decision in memory
  }
}
