package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Measured;
import io.throttlekit.TimeSource;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.OpenLoad;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StallConformance;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A Redis that pauses, stops for longer, or refuses connections. */
@RealRedis
class RedisStallTest extends StallConformance {
  private final RedisProcess redis = RedisProcess.start();
  private final RecordingListener listener = new RecordingListener();
  private final RedisCounterStore store =
      Stores.connected(
          RedisCounterStore.connect(
              Wanted.redis(redis.url()).settings(), TimeSource.system(), listener, null));

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
  protected void pause(long millis) {
    redis.pause(millis);
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
  void refusedConnectionsOpenTheBreakerUntil100MillisAfterRecovery() throws Exception {
    warm();
    Measured.twoOfThree(() -> {
      try (OpenLoad load = new OpenLoad(store, this::claim, 200, 7, millis(500))) {
        load.goOn(100);
        listener.failures.clear();
        redis.kill();
        long killed = System.nanoTime();
        long opened;
        try {
          awaitOpen();
          opened = System.nanoTime();
          load.goOn(700); // by then it is tried as seldom as it will be
        } finally {
          redis.restart();
        }
        long back = load.answeredAfter(System.nanoTime(), _ -> true);
        assertThat(millisOf(opened - killed)).as("ms until it opened").isLessThan(500);
        assertThat(millisOf(back)).as("ms until it answered").isLessThanOrEqualTo(100);
      }
    });
  }
}
