package io.throttlekit.redis;

import io.throttlekit.DataLoss;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StallConformance;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/**
 * A Cluster one of whose three masters pauses, or stops for longer: its breaker is its own, and
 * requests for counters of the others do not fail.
 */
@RealRedis
class RedisClusterStallTest extends StallConformance {
  private static final Slots SLOTS = new Slots(new KeyText(""), true);

  private final RedisNodes nodes = startedNodes();
  private final RecordingListener listener = new RecordingListener();
  private final RedisCounterStore store =
      Stores.connected(
          RedisCounterStore.connect(Wanted.cluster(nodes.urls()).settings(), time, listener, null));

  /** Masters that suspect none of them which is stopped, however slow the test is. */
  private static RedisNodes startedNodes() {
    RedisNodes nodes = RedisNodes.start();
    for (RedisProcess node : nodes.masters()) {
      node.command("CONFIG", "SET", "cluster-node-timeout", "600000");
    }
    return nodes;
  }

  @AfterEach
  void stop() {
    store.close();
    nodes.close();
  }

  @Override
  protected CounterStore store() {
    return store;
  }

  @Override
  protected Claim claim(String user) {
    return StoreCalls.claim(StoreCalls.FIVE, user, 1, DataLoss.REFILL);
  }

  @Override
  protected void hang() {
    nodes.masters().getFirst().hang();
  }

  @Override
  protected void goOn() {
    nodes.masters().getFirst().goOn();
  }

  @Override
  protected boolean isOfServer(String user) {
    return nodes.masterOf(SLOTS.of(StoreCalls.key(StoreCalls.FIVE, user))) == 0;
  }

  /** The store is up while any node answers. */
  @Override
  protected List<String> statesOfAStop() {
    return List.of();
  }

  @Override
  protected RecordingListener listener() {
    return listener;
  }
}
