package io.throttlekit.redis;

import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A connection that is made again when it breaks. Used on one event loop, unless said otherwise.
 */
interface Link {

  /** Hears of connections, on the event loop. */
  interface Listener {
    /**
     * A connection was made, and is used once the stage has completed; where that fails, it is
     * closed.
     */
    CompletionStage<?> connecting(BaseRedisAsyncCommands<byte[], byte[]> commands);

    /** There is one; perhaps a new one. */
    void connected();

    /** None could be made; it is tried again. */
    void notConnected(String whyInWords);
  }

  /** Begins to connect; from any thread, once. */
  void open();

  /** What to send commands with; null while there is no connection. */
  @Nullable BaseRedisAsyncCommands<byte[], byte[]> commands();

  /** Names the Redis that has a hash slot, as far as that is known; from any thread. */
  String node(int slot);

  /** Why there is no connection, for an operator. */
  String whyNot();

  /**
   * Gives the connection up and makes another, to whatever is the master then. What was sent and
   * not answered fails.
   */
  void renew();

  /** Closes it for good. */
  CompletionStage<?> close();
}
