package io.throttlekit.redis;

import io.throttlekit.record.RecordStore;
import io.throttlekit.record.RecordStoreConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisClusterRecordStoreConformanceTest extends RecordStoreConformance {
  @RegisterExtension private static final OneCluster cluster = new OneCluster();

  @Override
  protected void empty() {
    cluster.flush();
  }

  @Override
  protected RecordStore open() {
    return Stores.records(Stores.clusterWithLongDeadlines(cluster.urls()), clock());
  }
}
