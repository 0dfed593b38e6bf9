package io.throttlekit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.throttlekit.store.RootCause;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A connection that is reopened when it is lost. Used on one event loop, unless noted otherwise.
 *
 * @param <C> the connection
 */
abstract class Link<C extends StatefulConnection<byte[], byte[]>> {
  private static final Pattern LOGIN = Pattern.compile("://[^/\\s]*@");

  final EventLoop loop;
  final Listener listener;
  volatile @Nullable C connection;
  boolean closed;

  /** Why there is no connection, for an operator. */
  String failureReason = "not connected yet";

  /** Receives events of the connection, on the event loop. */
  interface Listener {
    /**
     * A connection was opened. It is used when the stage completes, and closed if the stage fails.
     */
    CompletionStage<?> connecting(RedisClusterAsyncCommands<byte[], byte[]> commands);

    /** A connection can be used, possibly a new one. */
    void connected();

    /** A connection that was used was lost or closed. */
    void disconnected();

    /** A connection could not be opened; it is retried. */
    void notConnected(String failureReason);
  }

  /** Creates an unopened link, which notifies {@code listener} on the loop. */
  Link(EventLoop loop, Listener listener) {
    this.loop = loop;
    this.listener = listener;
  }

  /** Begins to connect; called from any thread, once. */
  void open() {
    loop.execute(this::connect);
  }

  /** Opens a connection, unless the link is closed. */
  abstract void connect();

  /** Returns the commands of the connection; null while there is none. */
  abstract @Nullable RedisClusterAsyncCommands<byte[], byte[]> commands();

  /**
   * Returns the name of the node with a hash slot, as far as it is known; called from any thread.
   */
  abstract String node(int slot);

  /** Returns whether a node that {@link #node} has named is still part of the Redis. */
  abstract boolean hasNode(String node);

  /** Closes the connection and opens another to the current master. Unanswered commands fail. */
  abstract void renew();

  /** Closes the connection permanently. */
  CompletionStage<?> close() {
    closed = true;
    C old = connection;
    connection = null;
    if (old == null) {
      return CompletableFuture.completedFuture(null);
    }
    listener.disconnected();
    return old.closeAsync();
  }

  /**
   * Returns why a connection failed, for an operator: the answer of Redis where there was one, as
   * closing the connection is only its consequence. Lettuce has credentials of a URI as a star for
   * each character.
   */
  static String reason(@Nullable Throwable failure) {
    return explained(messageOf(failure));
  }

  /** Returns a reason without credentials, and with what an operator can do. */
  static String explained(String reason) {
    return LOGIN.matcher(reason).replaceAll("://***@") + hint(reason);
  }

  private static String messageOf(@Nullable Throwable failure) {
    return RootCause.causes(failure)
        .flatMap(cause -> Stream.concat(Stream.of(cause), Stream.of(cause.getSuppressed())))
        .filter(RedisCommandExecutionException.class::isInstance)
        .findFirst()
        .map(answer -> String.valueOf(answer.getMessage()))
        .orElseGet(() -> RootCause.message(failure));
  }

  private static String hint(String reason) {
    if (reason.contains("NOAUTH")) {
      return " (redis://:PASSWORD@HOST:PORT, or the setting of the password)";
    }
    return reason.contains("DB index is out of range")
        ? " (the number of the database in the URI; Redis has as many as its setting databases)"
        : "";
  }

  /** Fails a stage that is not complete in time, with {@code why} as its message. */
  static void limit(EventLoop loop, CompletableFuture<?> stage, Duration time, String why) {
    ScheduledFuture<?> limit =
        loop.schedule(
            () -> stage.completeExceptionally(new RedisException(why)),
            time.toMillis(),
            TimeUnit.MILLISECONDS);
    var _ = stage.whenComplete((_, _) -> limit.cancel(false));
  }
}
