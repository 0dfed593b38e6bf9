package io.throttlekit.redis;

import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A connection that is reopened when it is lost. Used on one event loop, unless noted otherwise.
 */
interface Link {
  /** The most causes that are followed: they may be cyclic. */
  int MAX_CAUSES = 8;

  /** Receives events of the connection, on the event loop. */
  interface Listener {
    /**
     * A connection was opened. It is used when the stage completes, and closed if the stage fails.
     */
    CompletionStage<?> connecting(BaseRedisAsyncCommands<byte[], byte[]> commands);

    /** A connection can be used, possibly a new one. */
    void connected();

    /** A connection could not be opened; it is retried. */
    void notConnected(String failureReason);
  }

  /** Begins to connect; called from any thread, once. */
  void open();

  /** Returns the commands of the connection; null while there is none. */
  @Nullable BaseRedisAsyncCommands<byte[], byte[]> commands();

  /**
   * Returns the name of the node with a hash slot, as far as it is known; called from any thread.
   */
  String node(int slot);

  /** Returns whether a node that {@link #node} has named is still part of the Redis. */
  boolean hasNode(String node);

  /** Returns why there is no connection, for an operator. */
  String failureReason();

  /** Closes the connection and opens another to the current master. Unanswered commands fail. */
  void renew();

  /** Closes the connection permanently. */
  CompletionStage<?> close();

  /** Returns the message of the innermost cause of a failure, for an operator. */
  static String describe(@Nullable Throwable failure) {
    if (failure == null) {
      return "unknown";
    }
    Throwable innermost = failure;
    for (int i = 0; i < MAX_CAUSES && innermost.getCause() != null; i++) {
      innermost = innermost.getCause();
    }
    String message = innermost.getMessage();
    return message == null ? innermost.toString() : message;
  }
}
