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
import java.util.concurrent.TimeUnit;
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
   * answers or knows one. Not to be called again before.
   */
  CompletionStage<RedisURI> find() {
    CompletableFuture<RedisURI> found = new CompletableFuture<>();
    StatefulRedisSentinelConnection<String, String> known = connection;
    if (known != null && known.isOpen()) {
      ask(known, found);
    } else {
      var _ =
          client
              .connectSentinelAsync(StringCodec.UTF8, sentinels)
              .whenComplete((made, failure) -> loop.execute(() -> use(made, failure, found)));
    }
    return found;
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
      @Nullable StatefulRedisSentinelConnection<String, String> made,
      @Nullable Throwable failure,
      CompletableFuture<RedisURI> found) {
    if (made == null) {
      found.completeExceptionally(failure == null ? new RedisException("unknown") : failure);
    } else {
      close();
      connection = made;
      ask(made, found);
    }
  }

  private void ask(
      StatefulRedisSentinelConnection<String, String> sentinel, CompletableFuture<RedisURI> found) {
    CompletableFuture<SocketAddress> answer =
        sentinel.async().getMasterAddrByName(sentinels.getSentinelMasterId()).toCompletableFuture();
    var limit =
        loop.schedule(
            () -> answer.completeExceptionally(new RedisException("the Sentinel does not answer")),
            sentinels.getTimeout().toMillis(),
            TimeUnit.MILLISECONDS);
    var _ =
        answer.whenComplete((address, failure) -> {
          limit.cancel(false);
          loop.execute(() -> answered(address, failure, found));
        });
  }

  private void answered(
      @Nullable SocketAddress address,
      @Nullable Throwable failure,
      CompletableFuture<RedisURI> found) {
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
