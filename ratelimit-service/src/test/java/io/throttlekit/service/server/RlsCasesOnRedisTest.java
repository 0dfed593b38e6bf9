package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.redis.RealRedis;
import io.throttlekit.redis.RedisProcess;
import io.throttlekit.redis.TcpProxy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What envoyproxy/ratelimit really answered, asked of the whole program on a Redis as it has. */
@RealRedis
@Timeout(180)
class RlsCasesOnRedisTest {

  @TempDir private Path folder;

  @Test
  void withThatProgramsEnvironmentAndRedisEveryCaseIsAnsweredAsItDoes() throws IOException {
    try (RedisProcess redis = RedisProcess.start()) {
      List<String> environment =
          List.of(
              "BACKEND_TYPE=redis",
              "REDIS_SOCKET_TYPE=tcp",
              "REDIS_URL=127.0.0.1:" + redis.port(),
              "THROTTLEKIT_STORE_DEADLINE=2s"); // the cases are not about a slow machine
      RlsCasesProcessTest.checkAll(folder, environment, () -> redis.command("FLUSHALL"));
      assertThat(redis.command("DBSIZE")).as("the epoch, and counters").isNotIn("0", "1");
    }
  }

  /** With nothing but that program's environment: no setting of ours makes up for the delay. */
  @Test
  void aRedisThatIsSlowIsWaitedFor() throws IOException {
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy slow = TcpProxy.to(redis.port())) {
      slow.delayReplies(20);
      List<String> environment =
          List.of(
              "BACKEND_TYPE=redis", "REDIS_SOCKET_TYPE=tcp", "REDIS_URL=127.0.0.1:" + slow.port());
      RlsCasesProcessTest.checkAll(folder, environment, () -> redis.command("FLUSHALL"));
    }
  }
}
