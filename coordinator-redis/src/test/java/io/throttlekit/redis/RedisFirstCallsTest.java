package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.FIVE;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.ask;
import static io.throttlekit.redis.StoreCalls.failure;
import static io.throttlekit.redis.StoreCalls.key;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.store.CounterStore;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.testkit.redis.RealRedis;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls of a store that has no connection yet. */
@RealRedis
class RedisFirstCallsTest {
  private static final int CALLS = 150;

  @RegisterExtension private static final OneRedis REDIS = new OneRedis();
  @RegisterExtension private static final OneCluster CLUSTER = new OneCluster();

  @Test
  void waitForTheFirstConnection() {
    try (RedisCounterStore store = Stores.connect(Stores.longDeadlines(REDIS.url()).settings())) {
      assertAllCounted(store);
    }
  }

  @Test
  void waitForTheFirstConnectionOfACluster() {
    CLUSTER.flush();
    try (RedisCounterStore store =
        Stores.connect(Stores.clusterWithLongDeadlines(CLUSTER.urls()).settings())) {
      assertAllCounted(store);
    }
  }

  private static void assertAllCounted(CounterStore store) {
    List<CompletionStage<Outcome>> asked = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      asked.add(ask(store, "user" + i % 50, 1));
    }
    asked.forEach(call -> assertThat(answer(call).admitted()).isTrue());
    long left = answer(store.peek(key(FIVE, "user7"), FIVE)).decisions().getFirst().remaining();
    assertThat(left).isEqualTo(2);
  }

  @Test
  void failWithTheReasonWhenTheFirstAttemptIsRefused() throws IOException {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }
    try (RedisCounterStore store =
        Stores.connect(Stores.longDeadlines("redis://127.0.0.1:" + free).settings())) {
      assertThat(failure(ask(store, "a", 1)))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("no connection to Redis: ")
          .hasMessageContaining("refused");
    }
  }

  @Test
  void failAtTheirDeadlineWhileTheServerAcceptsAndIsSilent() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        RedisCounterStore store =
            Stores.connect(
                Wanted.redis("redis://127.0.0.1:" + silent.getLocalPort())
                    .deadlines(20, 20)
                    .settings())) {
      assertThat(failure(ask(store, "a", 1)))
          .isInstanceOf(StoreException.class)
          .hasMessage("no connection to Redis yet");
    }
  }
}
