package io.throttlekit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.throttlekit.store.Persistence;
import io.throttlekit.store.Persistence.Cause;
import io.throttlekit.store.Persistence.Gap;
import io.throttlekit.store.StoreException;
import java.util.ArrayList;
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
  private static final String POLICY = "maxmemory-policy";
  private static final String NO_EVICTION = "noeviction";

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
        .thenCombine(
            ifAllowed(commands.configGet("maxmemory*"), Map.of()), PersistenceSettings::new)
        .thenCompose(found -> compare(commands, found));
  }

  private CompletionStage<?> compare(
      RedisClusterAsyncCommands<byte[], byte[]> commands, PersistenceSettings found) {
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

  private void learn(ScriptCall.Reply reply, PersistenceSettings found) {
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

  /**
   * The settings of a Redis that affect what it may lose, by name; unreadable ones are missing.
   *
   * @param append settings of the append-only file
   * @param memory settings of eviction
   */
  private record PersistenceSettings(Map<String, String> append, Map<String, String> memory) {
    /** Returns whether Redis writes all data to disk before it acknowledges them. */
    boolean isDurable() {
      return "yes".equals(append.get("appendonly"))
          && "always".equals(append.get("appendfsync"))
          && "no".equals(append.getOrDefault("no-appendfsync-on-rewrite", "no"));
    }

    /**
     * Returns what a single server, or one behind Sentinels, may lose.
     *
     * @param comparesHistory whether a restart with older data is detected
     * @param replicas number of replicas that may take over
     */
    Persistence of(boolean comparesHistory, long replicas) {
      List<Gap> gaps = new ArrayList<>();
      if (!isDurable()) {
        gaps.add(restart());
      }
      if (replicas > 0) {
        gaps.add(failover("replication to " + replicas + " replica" + (replicas > 1 ? "s" : "")));
      }
      return withOthers(gaps, comparesHistory);
    }

    /**
     * Returns what a Cluster may lose; each of its nodes may have its own settings.
     *
     * @param comparesHistory whether a restart or failover with older data is detected
     */
    Persistence inCluster(boolean comparesHistory) {
      List<Gap> gaps = new ArrayList<>();
      gaps.add(failover("replication in a Cluster"));
      return withOthers(gaps, comparesHistory);
    }

    private static Gap failover(String found) {
      return new Gap(
          Cause.FAILOVER,
          found + " is asynchronous",
          "PostgreSQL with a synchronous standby loses no data");
    }

    private Gap restart() {
      return append.isEmpty()
          ? new Gap(
              Cause.RESTART,
              "CONFIG GET is not allowed",
              "grant +config|get, and set appendonly yes and appendfsync always")
          : new Gap(
              Cause.RESTART,
              "appendonly %s, appendfsync %s, no-appendfsync-on-rewrite %s"
                  .formatted(
                      append.get("appendonly"),
                      append.get("appendfsync"),
                      append.get("no-appendfsync-on-rewrite")),
              "set appendonly yes, appendfsync always and no-appendfsync-on-rewrite no");
    }

    private Persistence withOthers(List<Gap> gaps, boolean comparesHistory) {
      if (!comparesHistory) {
        gaps.add(new Gap(Cause.UNNOTICED, "the user may not call INFO", "grant +info"));
      }
      String policy = memory.get(POLICY);
      if (policy == null) { // unknown is no promise
        gaps.add(
            new Gap(
                Cause.EVICTION,
                POLICY + " cannot be read",
                "grant +config|get, and set maxmemory-policy noeviction"));
      } else if (!policy.equals(NO_EVICTION)) { // counters have a TTL, so volatile-* evicts them
        gaps.add(new Gap(Cause.EVICTION, POLICY + " " + policy, "set maxmemory-policy noeviction"));
      }
      return new Persistence(gaps);
    }
  }
}
