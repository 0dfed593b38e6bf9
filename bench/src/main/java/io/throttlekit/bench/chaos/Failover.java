package io.throttlekit.bench.chaos;

import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;

/**
 * Two Redis of which one replicates the other asynchronously, watched by a Sentinel. For one
 * thread.
 */
final class Failover implements AutoCloseable {
  private static final String MASTER = "main";

  /** How long a master may be silent while a fault is to replace it. */
  private static final String DURING_A_FAULT_MILLIS = "300";

  /** And at other times: a machine that is busy is no reason to replace it. */
  private static final String ELSE_MILLIS = "60000";

  private final RedisProcess first;
  private final RedisProcess second;
  private final RedisProcess sentinel;
  private RedisProcess killed;

  private Failover(RedisProcess first, RedisProcess second, RedisProcess sentinel) {
    this.first = first;
    this.second = second;
    this.sentinel = sentinel;
    this.killed = second;
  }

  /** Replicates {@code first}, which stays with the caller. */
  static Failover of(RedisProcess first) throws IOException {
    RedisProcess second =
        RedisProcess.start("--replicaof", "127.0.0.1", Integer.toString(first.port()));
    RedisProcess sentinel = RedisProcess.start("--sentinel");
    sentinel.command(
        "SENTINEL", "MONITOR", MASTER, "127.0.0.1", Integer.toString(first.port()), "1");
    sentinel.command("SENTINEL", "SET", MASTER, "down-after-milliseconds", ELSE_MILLIS);
    sentinel.command("SENTINEL", "SET", MASTER, "failover-timeout", "3000");
    Failover failover = new Failover(first, second, sentinel);
    if (!failover.awaitReplica()) {
      failover.close();
      throw new IOException("the Sentinel finds no replica");
    }
    return failover;
  }

  /** Where the service finds the one that leads. */
  String uri() {
    return "redis-sentinel://127.0.0.1:" + sentinel.port() + "#" + MASTER;
  }

  /**
   * Waits until the master has a replica to fail over to.
   *
   * @return whether it has, within a minute
   */
  boolean awaitReplica() {
    return Waiting.until(
        () ->
            master().command("INFO", "replication").contains("state=online")
                && sentinel.command("SENTINEL", "REPLICAS", MASTER).contains("slave"),
        Waiting.LONG);
  }

  /** Kills the master; the other one is promoted by the Sentinel. */
  void kill() {
    killed = master();
    killed.kill();
    sentinel.command("SENTINEL", "SET", MASTER, "down-after-milliseconds", DURING_A_FAULT_MILLIS);
  }

  /**
   * Waits until the Sentinel names the other one, and starts the one that was killed as its
   * replica.
   *
   * @throws IOException when it does not in a minute
   */
  void restart() throws IOException {
    RedisProcess ended = killed;
    boolean promoted = Waiting.until(() -> master() != ended, Waiting.LONG);
    sentinel.command("SENTINEL", "SET", MASTER, "down-after-milliseconds", ELSE_MILLIS);
    ended.restart();
    if (!promoted) {
      throw new IOException("the replica was not promoted:\n" + sentinel.log());
    }
    ended.command("REPLICAOF", "127.0.0.1", Integer.toString(master().port()));
  }

  /** The one that the Sentinel names, which may have replaced another by itself. */
  private RedisProcess master() {
    String named = sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER);
    return named.contains(Integer.toString(second.port())) ? second : first;
  }

  /** How often the Sentinel has named another master, because of a fault or by itself. */
  long switches() {
    return sentinel.log().lines().filter(line -> line.contains("+switch-master")).count();
  }

  /** Ends what it started, at once. */
  void end() {
    sentinel.kill();
    second.kill();
  }

  @Override
  public void close() {
    sentinel.close();
    second.close();
  }
}
