package io.throttlekit.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.netty.channel.EventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a single Redis, or to the master that Sentinels name.
 *
 * <p>A lost connection is replaced, not repaired: no command is sent twice, and Sentinels and DNS
 * are queried again each time. Sentinels are queried while the connection works, too: a master that
 * they replace while it is alive keeps serving until they reach it, for eight seconds or more, and
 * would admit a limit in addition to its successor.
 */
final class SingleLink extends Link<StatefulRedisConnection<byte[], byte[]>> {
  /**
   * The interval of Sentinel queries, far below the time for which a successor denies after a loss
   * (history.lua).
   */
  private static final long MASTER_CHECK_MILLIS = 250;

  private final RedisClient client;
  private final RedisURI uri;
  private final @Nullable SentinelMaster sentinels;
  private final RetryPauses retries = new RetryPauses();

  /**
   * Creates an unopened link.
   *
   * @param listener notified of each connection on the event loop
   */
  SingleLink(RedisClient client, RedisURI uri, EventLoop loop, Listener listener) {
    super(loop, listener);
    this.client = client;
    this.uri = uri;
    this.sentinels = uri.getSentinels().isEmpty() ? null : new SentinelMaster(client, uri, loop);
  }

  @Override
  @Nullable RedisClusterAsyncCommands<byte[], byte[]> commands() {
    StatefulRedisConnection<byte[], byte[]> now = connection;
    return now == null ? null : now.async();
  }

  @Override
  String node(int slot) {
    return "";
  }

  @Override
  boolean hasNode(String node) {
    return true;
  }

  @Override
  void renew() {
    StatefulRedisConnection<byte[], byte[]> old = connection;
    if (old != null) {
      lose(old);
    }
  }

  @Override
  CompletionStage<?> close() {
    if (sentinels != null) {
      sentinels.close();
    }
    return super.close();
  }

  @Override
  void connect() {
    if (closed) {
      return;
    }
    // In stages from the beginning, so that an exception of any of them is a failed attempt, too.
    var _ =
        CompletableFuture.completedFuture(uri)
            .thenCompose(this::master)
            .thenCompose(this::connectTo)
            .whenCompleteAsync(
                (_, failure) -> {
                  if (failure != null) {
                    notConnected(failure);
                  }
                },
                loop);
  }

  private CompletionStage<RedisURI> master(RedisURI configured) {
    return sentinels == null ? CompletableFuture.completedFuture(configured) : sentinels.find();
  }

  private CompletionStage<?> connectTo(RedisURI to) {
    return client
        .connectAsync(ByteArrayCodec.INSTANCE, to)
        .thenComposeAsync(made -> use(made, to), loop);
  }

  /** Uses a connection after its handshake; closes it if either fails. */
  private CompletionStage<?> use(StatefulRedisConnection<byte[], byte[]> made, RedisURI to) {
    return CompletableFuture.completedFuture(made)
        .thenCompose(this::handshake)
        .thenRunAsync(() -> begin(made, to), loop)
        .whenComplete((_, failure) -> {
          if (failure != null) {
            abandon(made);
          }
        });
  }

  private CompletionStage<?> handshake(StatefulRedisConnection<byte[], byte[]> made) {
    if (closed) {
      return CompletableFuture.completedFuture(made); // to be closed
    }
    CompletableFuture<?> handshake = listener.connecting(made.async()).toCompletableFuture();
    Link.limit(loop, handshake, uri.getTimeout(), "Redis does not answer");
    return handshake;
  }

  private void notConnected(Throwable failure) {
    if (closed) {
      return;
    }
    String reason = reason(failure);
    failureReason = reason + hint(reason);
    scheduleRetry();
    listener.notConnected(failureReason);
  }

  /** Returns the likely cause where one side uses TLS and the other does not. */
  private String hint(String reason) {
    if (uri.isSsl()) {
      return reason.contains("timed out") ? "; does it support TLS?" : "";
    }
    boolean garbled =
        reason.contains("Invalid first byte")
            || reason.contains("closed prematurely")
            || reason.contains("Connection reset");
    return garbled ? "; does it require TLS (rediss://)?" : "";
  }

  private void begin(StatefulRedisConnection<byte[], byte[]> made, RedisURI to) {
    if (closed) {
      var _ = made.closeAsync();
      return;
    }
    made.addListener(
        new RedisConnectionStateListener() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            loop.execute(() -> lose(made));
          }
        });
    connection = made;
    retries.reset();
    // It may have been closed before the listener was added.
    if (!made.isOpen()) {
      lose(made);
    } else {
      listener.connected();
      scheduleMasterCheck(made, to);
    }
  }

  private void scheduleMasterCheck(StatefulRedisConnection<byte[], byte[]> made, RedisURI to) {
    if (sentinels != null) {
      Runnable check = () -> checkMaster(made, to, sentinels);
      var _ = loop.schedule(check, MASTER_CHECK_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** Closes the connection when Sentinels name another master; keeps it while none answers. */
  @SuppressWarnings("ReferenceEquality") // this very connection, not an equal one
  private void checkMaster(
      StatefulRedisConnection<byte[], byte[]> made, RedisURI to, SentinelMaster finder) {
    if (connection != made) {
      return;
    }
    var _ =
        finder
            .find()
            .whenComplete((master, _) -> {
              if (master != null && !master.equals(to)) {
                lose(made);
              } else {
                scheduleMasterCheck(made, to);
              }
            });
  }

  @SuppressWarnings("ReferenceEquality") // this very connection, not an equal one
  private void lose(StatefulRedisConnection<byte[], byte[]> lost) {
    if (connection == lost) {
      abandon(lost);
      failureReason = "connection closed by Redis";
      scheduleRetry();
    }
  }

  @SuppressWarnings("ReferenceEquality") // as above
  private void abandon(StatefulRedisConnection<byte[], byte[]> made) {
    if (connection == made) {
      connection = null;
      listener.disconnected();
    }
    var _ = made.closeAsync();
  }

  private void scheduleRetry() {
    long pause = retries.afterFailure(failureReason);
    var _ = loop.schedule(this::connect, pause, TimeUnit.MILLISECONDS);
  }
}
