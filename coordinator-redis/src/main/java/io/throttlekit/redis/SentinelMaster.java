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
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Finds the master through Sentinels, over one connection that is reopened when it is lost. Used on
 * one event loop.
 */
final class SentinelMaster {
  private final RedisClient client;
  private final RedisURI sentinels;
  private final EventLoop loop;
  private @Nullable StatefulRedisSentinelConnection<String, String> connection;

  /** The newest query's answer; at first a failed one. */
  private CompletableFuture<RedisURI> found =
      CompletableFuture.failedFuture(new RedisException("no query yet"));

  /**
   * Creates a finder without a connection.
   *
   * @param sentinels the URI with the Sentinels and the master's name
   */
  SentinelMaster(RedisClient client, RedisURI sentinels, EventLoop loop) {
    this.client = client;
    this.sentinels = sentinels;
    this.loop = loop;
  }

  /**
   * Returns the master that the first responding Sentinel names. Completes on the loop; fails if
   * none responds or knows the master. Concurrent queries share the answer.
   */
  CompletionStage<RedisURI> find() {
    if (found.isDone()) {
      found =
          CompletableFuture.completedFuture(sentinels)
              .thenCompose(this::connected) // a stage, so that an exception is an answer, too
              .thenCompose(this::query)
              .handleAsync(this::answered, loop)
              .toCompletableFuture();
    }
    return found;
  }

  private CompletionStage<StatefulRedisSentinelConnection<String, String>> connected(RedisURI to) {
    StatefulRedisSentinelConnection<String, String> known = connection;
    return known != null && known.isOpen()
        ? CompletableFuture.completedFuture(known)
        : client
            .connectSentinelAsync(StringCodec.UTF8, to)
            .thenApplyAsync(
                made -> {
                  close();
                  connection = made;
                  return made;
                },
                loop);
  }

  /** Closes the connection permanently; called without a query in flight. */
  void close() {
    StatefulRedisSentinelConnection<String, String> known = connection;
    connection = null;
    if (known != null) {
      var _ = known.closeAsync();
    }
  }

  private CompletionStage<SocketAddress> query(
      StatefulRedisSentinelConnection<String, String> sentinel) {
    CompletableFuture<SocketAddress> answer =
        sentinel.async().getMasterAddrByName(sentinels.getSentinelMasterId()).toCompletableFuture();
    // A Sentinel that hangs does not close its connection.
    Link.limit(loop, answer, sentinels.getTimeout(), "the Sentinel does not answer");
    return answer;
  }

  private RedisURI answered(@Nullable SocketAddress address, @Nullable Throwable failure) {
    if (address instanceof InetSocketAddress named) {
      return at(named);
    }
    close(); // the next query connects to another Sentinel
    throw new CompletionException(
        failure == null
            ? new RedisException("unknown to the Sentinel: " + sentinels.getSentinelMasterId())
            : failure);
  }

  private RedisURI at(InetSocketAddress named) {
    RedisURI master =
        RedisURI.builder(sentinels)
            .withHost(named.getHostString())
            .withPort(named.getPort())
            .build();
    // Otherwise Lettuce would look the master up again.
    master.getSentinels().clear();
    return master;
  }
}
