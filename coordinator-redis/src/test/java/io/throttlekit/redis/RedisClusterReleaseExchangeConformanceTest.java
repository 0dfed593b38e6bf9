package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.share.ReleaseExchangeConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;

@RealRedis
@Timeout(180)
class RedisClusterReleaseExchangeConformanceTest extends ReleaseExchangeConformance {
  private static RedisNodes nodes;

  private final ManualTime clock = new ManualTime(1_700_000_000_000L);

  @BeforeAll
  static void start() {
    nodes = RedisNodes.start();
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @Override
  protected ReleaseExchange open() {
    nodes.masters().forEach(node -> node.command("FLUSHALL"));
    return Stores.releases(Stores.clusterWithLongDeadlines(nodes.urls()), clock);
  }

  @Override
  protected void advance(long millis) {
    clock.advance(millis);
  }
}
