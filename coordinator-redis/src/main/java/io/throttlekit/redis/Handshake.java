package io.throttlekit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.throttlekit.store.StoreException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The handshake of each connection, before its first call. It detects a server that was restarted,
 * or promoted from a replica, and may have older data than it acknowledged.
 *
 * <p>The history of a server (its run and replication offset) is stored beside the counters, and
 * kept by this process. If the server's history differs, a new epoch begins, unless the earlier run
 * wrote all acknowledged data to disk. In a Cluster, whose connections Lettuce opens, each call
 * compares the history of its slot, and the handshake only reads settings. Thread-safe.
 */
final class Handshake {
  private static final Script SCRIPT = Script.ofFederation("history", "handshake");

  private final byte[] epochKey;
  private final byte @Nullable [] historyKey; // null in a Cluster
  private final Epochs epochs;
  private final ScriptExecutor.Setup setup;
  private volatile String knownHistory = "";

  Handshake(byte[] epochKey, Epochs epochs, ScriptExecutor.Setup setup) {
    this.epochKey = epochKey;
    this.historyKey = setup.settings().cluster() ? null : KeyText.historyOf(epochKey);
    this.epochs = epochs;
    this.setup = setup;
  }

  /**
   * Completes when calls may be sent over a connection, after a loss of data was reported; fails if
   * Redis returns an error.
   */
  CompletionStage<?> over(RedisClusterAsyncCommands<byte[], byte[]> commands) {
    CompletionStage<Map<String, String>> append =
        ifAllowed(commands.configGet("*append*"), Map.of());
    return append
        .thenCombine(ifAllowed(commands.configGet("maxmemory*"), Map.of()), RedisPersistence::new)
        .thenCompose(found -> compare(commands, found));
  }

  private CompletionStage<?> compare(
      RedisClusterAsyncCommands<byte[], byte[]> commands, RedisPersistence found) {
    if (historyKey == null) {
      return ifAllowed(commands.info("server").thenApply(_ -> true), false)
          .thenAccept(allowed -> setup.listener().persistence(found.inCluster(allowed)));
    }
    byte[][] keys = {epochKey, historyKey};
    return commands
        .<List<Object>>eval(
            SCRIPT.text,
            ScriptOutputType.MULTI,
            keys,
            epochs.known(Slots.NONE),
            ScriptCall.clock(setup.storeClock()),
            KeyText.bytes(knownHistory),
            KeyText.bytes(found.isDurable() ? "1" : "0"))
        .thenAccept(parts -> learn(new ScriptCall.Reply(parts), found));
  }

  private void learn(ScriptCall.Reply reply, RedisPersistence found) {
    if (reply.epoch().length > 0) {
      epochs.learn(Slots.NONE, reply.epoch(), reply.number(2) == 1);
    }
    knownHistory = reply.text(0);
    setup.listener().persistence(found.of(!knownHistory.isEmpty(), reply.number(1)));
  }

  /** Returns the value of a reply; {@code forbidden} if Redis answers with an error. */
  private static <T> CompletionStage<T> ifAllowed(CompletionStage<T> value, T forbidden) {
    return value.exceptionally(failure -> {
      Throwable cause = StoreException.causeOf(failure);
      if (cause instanceof RedisCommandExecutionException) {
        return forbidden;
      }
      throw new CompletionException(cause); // a connection that was lost proves nothing
    });
  }
}
