package io.throttlekit.redis;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.federation.RegionalEscrowConformance;
import io.throttlekit.testkit.redis.RealRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;

@RealRedis
@Timeout(120)
class RedisClusterEscrowConformanceTest extends RegionalEscrowConformance {
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
  protected RegionalEscrow open(ManualTime clock) {
    nodes.masters().forEach(node -> node.command("FLUSHALL"));
    return Stores.escrow(Stores.clusterWithLongDeadlines(nodes.urls()), clock);
  }
}
