package io.throttlekit.bench.chaos.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import org.junit.jupiter.api.Test;

@RealRedis
class StoreServerTest {

  @Test
  void aStoreThatIsToBeEmptyReadsNoSnapshotOfAnEarlierFault() throws Exception {
    try (RedisProcess redis = RedisProcess.start()) {
      redis.command("SET", "k", "1");
      redis.command("SAVE");
      redis.kill();
      redis.restart();
      assertThat(redis.command("DBSIZE")).as("with its snapshot").isEqualTo("1");
      redis.kill();
      StoreServer.startEmpty(redis);
      assertThat(redis.command("DBSIZE")).isEqualTo("0");
    }
  }
}
