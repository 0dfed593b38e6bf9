package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.ConcurrencyCoordinatorConformance;
import io.throttlekit.share.Coordination;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;

@RealRedis
@Timeout(180)
class RedisClusterConcurrencyConformanceTest extends ConcurrencyCoordinatorConformance {
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
  protected ConcurrencyCoordinator open(Coordination terms) {
    nodes.masters().forEach(node -> node.command("FLUSHALL"));
    return Stores.concurrency(Stores.clusterWithLongDeadlines(nodes.urls()), terms, clock);
  }

  @Override
  protected void advance(long millis) {
    clock.advance(millis);
  }
}
