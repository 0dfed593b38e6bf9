package io.throttlekit.redis;

import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.netty.channel.EventLoop;
import io.throttlekit.store.RootCause;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Connections to the nodes of a Cluster, opened and repaired by Lettuce, which follows moved slots
 * and changed masters.
 */
final class ClusterLink extends Link<StatefulRedisClusterConnection<byte[], byte[]>> {
  /** The shortest interval of slot refreshes, which cost every node work. */
  private static final long RENEW_MILLIS = 1_000;

  /** The options of a URI in brackets. */
  private static final Pattern OPTIONS = Pattern.compile("\\?[^\\]]*]");

  private final RedisClusterClient client;
  private final RetryPauses retries = new RetryPauses();
  private boolean refreshing;

  ClusterLink(RedisClusterClient client, EventLoop loop, Listener listener) {
    super(loop, listener);
    this.client = client;
  }

  @Override
  @Nullable RedisClusterAsyncCommands<byte[], byte[]> commands() {
    StatefulRedisClusterConnection<byte[], byte[]> now = connection;
    return now == null ? null : now.async();
  }

  @Override
  String node(int slot) {
    StatefulRedisClusterConnection<byte[], byte[]> now = connection;
    RedisClusterNode node = now == null ? null : now.getPartitions().getMasterBySlot(slot);
    return node == null ? "" : node.getNodeId();
  }

  @Override
  boolean hasNode(String node) {
    StatefulRedisClusterConnection<byte[], byte[]> now = connection;
    return now == null
        || node.isEmpty() // the name while the slot's node is unknown
        || now.getPartitions().getPartitionByNodeId(node) != null;
  }

  /** Refreshes the slots, at most once per {@link #RENEW_MILLIS}. */
  @Override
  void renew() {
    if (!refreshing) {
      refreshing = true;
      var _ = client.refreshPartitionsAsync();
      var _ = loop.schedule(() -> refreshing = false, RENEW_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  void connect() {
    if (!closed) {
      var _ =
          client
              .refreshPartitionsAsync()
              .thenCompose(_ -> client.connectAsync(ByteArrayCodec.INSTANCE))
              .thenCompose(ClusterLink::withMasters)
              .whenComplete((made, failure) -> loop.execute(() -> use(made, failure)));
    }
  }

  /**
   * Connects to every master in advance: Lettuce rejects commands for a node without a connection.
   */
  private static CompletionStage<StatefulRedisClusterConnection<byte[], byte[]>> withMasters(
      StatefulRedisClusterConnection<byte[], byte[]> made) {
    CompletableFuture<?>[] masters =
        made.getPartitions().stream()
            .filter(node -> !node.hasNoSlots())
            .map(node -> made.getConnectionAsync(node.getUri().getHost(), node.getUri().getPort()))
            .toArray(CompletableFuture[]::new);
    return CompletableFuture.allOf(masters).handle((_, _) -> made);
  }

  /** Returns the reason of each node on one line: Lettuce has them on a line each, after others. */
  private static String reasons(@Nullable Throwable failure) {
    String message = RootCause.message(failure);
    String nodes =
        message
            .lines()
            .map(String::strip)
            .filter(line -> line.startsWith("["))
            .map(line -> OPTIONS.matcher(line).replaceFirst("]"))
            .collect(Collectors.joining("; "));
    return explained(
        nodes.isEmpty()
            ? message
            : nodes + (isNameUnresolved(failure) ? "; name resolution timed out" : ""));
  }

  private static boolean isNameUnresolved(@Nullable Throwable failure) {
    return RootCause.causes(failure)
        .flatMap(cause -> Stream.of(cause.getSuppressed())) // Lettuce's failures of the nodes
        .anyMatch(RootCause::isNameUnresolved);
  }

  private void use(
      @Nullable StatefulRedisClusterConnection<byte[], byte[]> made, @Nullable Throwable failure) {
    if (closed) {
      if (made != null) {
        var _ = made.closeAsync();
      }
    } else if (made == null) {
      failureReason = reasons(failure);
      listener.notConnected(failureReason);
      long pause = retries.afterFailure(failureReason);
      var _ = loop.schedule(this::connect, pause, TimeUnit.MILLISECONDS);
    } else {
      // In a Cluster the handshake only reads settings, so calls need not wait for it.
      var _ = listener.connecting(made.async());
      connection = made;
      listener.connected();
    }
  }
}
