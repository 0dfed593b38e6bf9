package io.throttlekit.bench.chaos.fleet;

import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;

/**
 * Two Redis, of which one replicates the other asynchronously, monitored by a Sentinel. For one
 * thread.
 */
public final class Failover implements AutoCloseable {
  private static final String MASTER = "main";

  /** Time without a reply after which Sentinel replaces a master during a fault. */
  private static final String DURING_A_FAULT_MILLIS = "300";

  /** The same at other times, when a busy machine is no reason to replace it. */
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

  /** Adds a replica and a Sentinel to {@code first}, which stays with the caller. */
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

  /** Returns the URI by which the service finds the current master. */
  String uri() {
    return "redis-sentinel://127.0.0.1:" + sentinel.port() + "#" + MASTER;
  }

  /**
   * Waits until the master has a replica to fail over to.
   *
   * @return whether it has failed over, within a minute
   */
  public boolean awaitReplica() {
    return Waiting.until(
        () ->
            master().command("INFO", "replication").contains("state=online")
                && sentinel.command("SENTINEL", "REPLICAS", MASTER).contains("slave"),
        Waiting.LONG);
  }

  /** Kills the master; the Sentinel promotes the other one. */
  public void kill() {
    killed = master();
    killed.kill();
    sentinel.command("SENTINEL", "SET", MASTER, "down-after-milliseconds", DURING_A_FAULT_MILLIS);
  }

  /**
   * Waits until the Sentinel names the other one, and restarts the killed one as its replica.
   *
   * @throws IOException if it does not within a minute
   */
  public void restart() throws IOException {
    RedisProcess ended = killed;
    boolean promoted = Waiting.until(() -> master() != ended, Waiting.LONG);
    sentinel.command("SENTINEL", "SET", MASTER, "down-after-milliseconds", ELSE_MILLIS);
    ended.restart();
    if (!promoted) {
      throw new IOException("the replica was not promoted:\n" + sentinel.log());
    }
    ended.command("REPLICAOF", "127.0.0.1", Integer.toString(master().port()));
  }

  /** Returns the master according to the Sentinel, which may have replaced another by itself. */
  private RedisProcess master() {
    String named = sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER);
    return named.contains(Integer.toString(second.port())) ? second : first;
  }

  /** Returns how often the Sentinel has switched the master, because of a fault or by itself. */
  long switches() {
    return sentinel.log().lines().filter(line -> line.contains("+switch-master")).count();
  }

  /** Kills the processes that it started. */
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
