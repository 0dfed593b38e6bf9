package io.throttlekit.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Asks Sentinels which Redis is the master, over one connection that is made again when it breaks.
 * Used on one event loop.
 */
final class SentinelMaster {
  private final RedisClient client;
  private final RedisURI sentinels;
  private final EventLoop loop;
  private @Nullable StatefulRedisSentinelConnection<String, String> connection;

  /** The answer to the newest question; at first none has been asked. */
  private CompletableFuture<RedisURI> found =
      CompletableFuture.failedFuture(new RedisException("not asked"));

  /**
   * @param sentinels the URI that names them and the master
   */
  SentinelMaster(RedisClient client, RedisURI sentinels, EventLoop loop) {
    this.client = client;
    this.sentinels = sentinels;
    this.loop = loop;
  }

  /**
   * The master that the first Sentinel which answers names; completes on the loop. Fails when none
   * answers or knows one. Who asks before the answer has come gets the same.
   */
  CompletionStage<RedisURI> find() {
    if (found.isDone()) {
      found = new CompletableFuture<>();
      begin();
    }
    return found;
  }

  private void begin() {
    StatefulRedisSentinelConnection<String, String> known = connection;
    if (known != null && known.isOpen()) {
      ask(known);
    } else {
      var _ =
          client
              .connectSentinelAsync(StringCodec.UTF8, sentinels)
              .whenComplete((made, failure) -> loop.execute(() -> use(made, failure)));
    }
  }

  /** Closes the connection for good, once nothing is asked. */
  void close() {
    StatefulRedisSentinelConnection<String, String> known = connection;
    connection = null;
    if (known != null) {
      var _ = known.closeAsync();
    }
  }

  private void use(
      @Nullable StatefulRedisSentinelConnection<String, String> made, @Nullable Throwable failure) {
    if (made == null) {
      found.completeExceptionally(failure == null ? new RedisException("unknown") : failure);
    } else {
      close();
      connection = made;
      ask(made);
    }
  }

  private void ask(StatefulRedisSentinelConnection<String, String> sentinel) {
    CompletableFuture<SocketAddress> answer =
        sentinel.async().getMasterAddrByName(sentinels.getSentinelMasterId()).toCompletableFuture();
    Loops.limit(loop, answer, sentinels.getTimeout(), "the Sentinel does not answer");
    var _ =
        answer.whenComplete((address, failure) -> loop.execute(() -> answered(address, failure)));
  }

  private void answered(@Nullable SocketAddress address, @Nullable Throwable failure) {
    if (address instanceof InetSocketAddress named) {
      found.complete(at(named));
    } else {
      close(); // the next one is asked then
      found.completeExceptionally(
          failure == null
              ? new RedisException("no Sentinel knows " + sentinels.getSentinelMasterId())
              : failure);
    }
  }

  private RedisURI at(InetSocketAddress named) {
    RedisURI master =
        RedisURI.builder(sentinels)
            .withHost(named.getHostString())
            .withPort(named.getPort())
            .build();
    master.getSentinels().clear();
    return master;
  }
}
