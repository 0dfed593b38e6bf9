package io.throttlekit.bench.chaos;

import io.throttlekit.redis.RedisProcess;
import java.io.IOException;

/**
 * Two Redis of which one replicates the other asynchronously, watched by a Sentinel. For one
 * thread.
 */
final class Failover implements AutoCloseable {
  private static final String MASTER = "main";

  private final RedisProcess first;
  private final RedisProcess second;
  private final RedisProcess sentinel;
  private boolean firstLeads = true;

  private Failover(RedisProcess first, RedisProcess second, RedisProcess sentinel) {
    this.first = first;
    this.second = second;
    this.sentinel = sentinel;
  }

  /** Replicates {@code first}, which stays with the caller. */
  static Failover of(RedisProcess first) throws IOException {
    RedisProcess second =
        RedisProcess.start("--replicaof", "127.0.0.1", Integer.toString(first.port()));
    RedisProcess sentinel = RedisProcess.start("--sentinel");
    sentinel.command(
        "SENTINEL", "MONITOR", MASTER, "127.0.0.1", Integer.toString(first.port()), "1");
    sentinel.command("SENTINEL", "SET", MASTER, "down-after-milliseconds", "300");
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
   * Waits until the one that leads has a replica to fail over to.
   *
   * @return whether it has, within ten seconds
   */
  boolean awaitReplica() {
    RedisProcess leader = firstLeads ? first : second;
    return Waiting.until(() ->
        leader.command("INFO", "replication").contains("state=online")
            && sentinel.command("SENTINEL", "REPLICAS", MASTER).contains("slave"));
  }

  /** Kills the one that leads; the other one is promoted by the Sentinel. */
  void kill() {
    (firstLeads ? first : second).kill();
    firstLeads = !firstLeads;
  }

  /**
   * Waits until the other one leads, and starts the one that was killed as its replica.
   *
   * @throws IOException when none leads after ten seconds
   */
  void restart() throws IOException {
    RedisProcess leader = firstLeads ? first : second;
    boolean promoted = Waiting.until(() -> leader.command("ROLE").startsWith("master"));
    RedisProcess killed = firstLeads ? second : first;
    killed.restart();
    if (!promoted) {
      throw new IOException("the replica was not promoted:\n" + sentinel.log());
    }
    killed.command("REPLICAOF", "127.0.0.1", Integer.toString(leader.port()));
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
