package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StallConformance;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A Redis that pauses, stops for longer, or refuses connections. */
@RealRedis
class RedisStallTest extends StallConformance {
  private final RedisProcess redis = RedisProcess.start();
  private final RecordingListener listener = new RecordingListener();
  private final RedisCounterStore store =
      Stores.connected(
          RedisCounterStore.connect(Wanted.redis(redis.url()).settings(), time, listener, null));

  @AfterEach
  void stop() {
    store.close();
    redis.close();
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
    redis.hang();
  }

  @Override
  protected void goOn() {
    redis.goOn();
  }

  @Override
  protected RecordingListener listener() {
    return listener;
  }

  @Test
  void refusedConnectionsOpenTheBreakerAndANewConnectionClosesIt() {
    warm();
    redis.kill();
    awaitOpen("user");
    assertThat(listener.states).isEqualTo(List.of("down"));
    redis.restart();
    await("closed", () -> listener.states.equals(List.of("down", "up"))); // without another probe
    assertAnswered("user");
  }
}
