package io.throttlekit.redis;

import io.throttlekit.record.RecordStore;
import io.throttlekit.record.RecordStoreConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

@RealRedis
class RedisRecordStoreConformanceTest extends RecordStoreConformance {
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  @Override
  protected void empty() {
    redis.flush();
  }

  @Override
  protected RecordStore open() {
    return Stores.records(Stores.longDeadlines(redis.url()), clock());
  }
}
