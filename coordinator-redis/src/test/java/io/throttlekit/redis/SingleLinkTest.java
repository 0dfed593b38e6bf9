package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ConnectionFuture;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.RedisCodec;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SingleLinkTest {
  /** More than an attempt has stages, each of which is a task of the loop. */
  private static final int TASKS = 10;

  private final List<RedisClient> clients = new ArrayList<>();
  private final EventLoop loop = new DefaultEventLoop();
  private final AtomicInteger disconnections = new AtomicInteger();
  private final AtomicInteger attempts = new AtomicInteger();
  private final AtomicInteger closes = new AtomicInteger();
  private final List<String> failures = new CopyOnWriteArrayList<>();
  private final CompletableFuture<Boolean> connected = new CompletableFuture<>();

  @AfterEach
  void stop() {
    var _ = loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    for (RedisClient client : clients) {
      var _ = client.shutdownAsync(0, 0, TimeUnit.SECONDS);
    }
  }

  @Test
  void aHandshakeThatFailsAfterCloseIsNotReported() throws Exception {
    CompletableFuture<Boolean> handshake = new CompletableFuture<>();
    CompletableFuture<Boolean> begun = new CompletableFuture<>();
    SingleLink link =
        link(
            new Events() {
              @Override
              public CompletionStage<?> connecting(RedisClusterAsyncCommands<byte[], byte[]> any) {
                begun.complete(true);
                return handshake;
              }
            });
    link.open();
    begun.get();
    loop.submit(link::close).get();
    handshake.completeExceptionally(new IllegalStateException("closed"));
    StoreCalls.await("closed", () -> closes.get() == 1);
    for (int i = 0; i < TASKS; i++) {
      loop.submit(() -> {}).get();
    }
    assertThat(failures).isEmpty();
    assertThat(attempts).hasValue(1);
  }

  @Test
  void anAttemptThatThrowsIsReportedAndRepeated() throws Exception {
    SingleLink link =
        new SingleLink(
            new Client() {
              @Override
              StatefulRedisConnection<?, ?> connection() {
                if (attempts.incrementAndGet() == 1) {
                  throw new IllegalStateException("first");
                }
                return made();
              }
            },
            RedisURI.create("redis://unused"),
            loop,
            new Events());
    link.open();
    assertThat(connected.get()).isTrue();
    assertThat(failures).containsExactly("first");
  }

  @Test
  void aHandshakeThatThrowsClosesItsConnectionAndIsRepeated() throws Exception {
    SingleLink link =
        link(
            new Events() {
              @Override
              public CompletionStage<?> connecting(RedisClusterAsyncCommands<byte[], byte[]> any) {
                if (attempts.get() == 1) {
                  throw new IllegalStateException("first");
                }
                return super.connecting(any);
              }
            });
    link.open();
    assertThat(connected.get()).isTrue();
    assertThat(failures).containsExactly("first");
    assertThat(closes).hasValue(1);
  }

  @Test
  void aClosedConnectionIsReportedOnce() throws Exception {
    SingleLink link = link(new Events());
    link.open();
    assertThat(connected.get()).isTrue();
    assertThat(disconnections).hasValue(0);
    loop.submit(link::close).get();
    loop.submit(link::close).get();
    assertThat(disconnections).hasValue(1);
  }

  @Test
  void aConnectionWhoseListenerThrowsIsReplaced() throws Exception {
    SingleLink link =
        link(
            new Events() {
              @Override
              public void connected() {
                if (attempts.get() == 1) {
                  throw new IllegalStateException("first");
                }
                super.connected();
              }
            });
    link.open();
    assertThat(connected.get()).isTrue();
    assertThat(failures).containsExactly("first");
    assertThat(closes).hasValue(1);
  }

  private SingleLink link(Link.Listener listener) {
    Client client =
        new Client() {
          @Override
          StatefulRedisConnection<?, ?> connection() {
            attempts.incrementAndGet();
            return made();
          }
        };
    return new SingleLink(client, RedisURI.create("redis://unused"), loop, listener);
  }

  /** Returns an open connection without a server. */
  private StatefulRedisConnection<?, ?> made() {
    return (StatefulRedisConnection<?, ?>)
        Proxy.newProxyInstance(
            StatefulRedisConnection.class.getClassLoader(),
            new Class<?>[] {StatefulRedisConnection.class},
            (_, method, _) ->
                switch (method.getName()) {
                  case "isOpen" -> true;
                  case "closeAsync" -> {
                    closes.incrementAndGet();
                    yield CompletableFuture.completedFuture(null);
                  }
                  default -> null;
                });
  }

  private class Events implements Link.Listener {
    @Override
    public CompletionStage<?> connecting(RedisClusterAsyncCommands<byte[], byte[]> any) {
      return CompletableFuture.completedFuture(true);
    }

    @Override
    public void connected() {
      connected.complete(true);
    }

    @Override
    public void disconnected() {
      disconnections.incrementAndGet();
    }

    @Override
    public void notConnected(String failureReason) {
      failures.add(failureReason);
    }
  }

  /** A client that makes no connection to a server. */
  private abstract class Client extends RedisClient {
    Client() {
      clients.add(this);
    }

    abstract StatefulRedisConnection<?, ?> connection();

    @Override
    @SuppressWarnings("unchecked") // the codec of byte arrays is the only one here
    public <K, V> ConnectionFuture<StatefulRedisConnection<K, V>> connectAsync(
        RedisCodec<K, V> codec, RedisURI uri) {
      return ConnectionFuture.completed(null, (StatefulRedisConnection<K, V>) connection());
    }
  }
}
