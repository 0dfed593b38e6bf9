package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.GlobalCoordinatorConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;

@RealRedis
@Timeout(120)
class RedisClusterCoordinatorConformanceTest extends GlobalCoordinatorConformance {
  private static RedisNodes nodes;

  @BeforeAll
  static void start() {
    nodes = RedisNodes.start();
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @Override
  protected GlobalCoordinator open(ManualTime clock) {
    nodes.masters().forEach(node -> node.command("FLUSHALL"));
    return Stores.coordinator(Stores.clusterWithLongDeadlines(nodes.urls()), clock);
  }
}
