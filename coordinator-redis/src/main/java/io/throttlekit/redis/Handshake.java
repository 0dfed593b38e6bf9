package io.throttlekit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
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
  private final byte @Nullable [] historyKey;
  private final Epochs epochs;
  private final StoreListener listener;
  private final @Nullable TimeSource storeClock;
  private volatile String knownHistory = "";

  /**
   * Creates a handshake.
   *
   * @param historyKey the key of the history; null in a Cluster
   * @param listener receives the persistence settings
   * @param storeClock replaces Redis's clock in tests
   */
  Handshake(
      byte[] epochKey,
      byte @Nullable [] historyKey,
      Epochs epochs,
      StoreListener listener,
      @Nullable TimeSource storeClock) {
    this.epochKey = epochKey;
    this.historyKey = historyKey;
    this.epochs = epochs;
    this.listener = listener;
    this.storeClock = storeClock;
  }

  /**
   * Completes when calls may be sent over a connection, after a loss of data was reported; fails if
   * Redis returns an error.
   */
  CompletionStage<?> over(BaseRedisAsyncCommands<byte[], byte[]> commands) {
    CompletionStage<Map<String, String>> append = settings(commands, "*append*");
    CompletionStage<Map<String, String>> memory = settings(commands, "maxmemory*");
    return append
        .thenCombine(memory, RedisPersistence::new)
        .thenCompose(found -> compare(commands, found));
  }

  private CompletionStage<?> compare(
      BaseRedisAsyncCommands<byte[], byte[]> commands, RedisPersistence found) {
    if (historyKey == null) {
      CompletionStage<byte[]> info =
          commands.dispatch(
              CommandType.INFO,
              new ValueOutput<>(ByteArrayCodec.INSTANCE),
              new CommandArgs<>(ByteArrayCodec.INSTANCE).add("server"));
      return ifAllowed(info.thenApply(_ -> true), false)
          .thenAccept(allowed -> listener.persistence(found.inCluster(allowed)));
    }
    CommandArgs<byte[], byte[]> arguments =
        new CommandArgs<>(ByteArrayCodec.INSTANCE)
            .add(SCRIPT.text())
            .add(2)
            .addKeys(epochKey, historyKey)
            .add(epochs.known(Slots.NONE))
            .add(storeClock == null ? "" : Long.toString(storeClock.wallMillis()))
            .add(knownHistory)
            .add(found.isDurable() ? "1" : "0");
    return commands
        .dispatch(CommandType.EVAL, new ArrayOutput<>(ByteArrayCodec.INSTANCE), arguments)
        .thenAccept(parts -> learn(new ScriptCall.Reply(parts), found));
  }

  private void learn(ScriptCall.Reply reply, RedisPersistence found) {
    if (reply.epoch().length > 0) {
      epochs.learn(Slots.NONE, reply.epoch(), reply.number(2) == 1);
    }
    knownHistory = reply.text(0);
    listener.persistence(found.of(!knownHistory.isEmpty(), reply.number(1)));
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

  /** Returns settings by name; empty if the user may not read them. */
  private static CompletionStage<Map<String, String>> settings(
      BaseRedisAsyncCommands<byte[], byte[]> commands, String pattern) {
    CommandOutput<byte[], byte[], List<Object>> output = new ArrayOutput<>(ByteArrayCodec.INSTANCE);
    CompletionStage<Map<String, String>> settings =
        commands
            .dispatch(
                CommandType.CONFIG,
                output,
                new CommandArgs<>(ByteArrayCodec.INSTANCE).add("GET").add(pattern))
            .thenApply(parts -> {
              Map<String, String> byName = new HashMap<>();
              for (int i = 0; i + 1 < parts.size(); i += 2) {
                byName.put(text(parts.get(i)), text(parts.get(i + 1)));
              }
              return byName;
            });
    return ifAllowed(settings, Map.of());
  }

  private static String text(Object part) {
    return part instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : "";
  }
}
