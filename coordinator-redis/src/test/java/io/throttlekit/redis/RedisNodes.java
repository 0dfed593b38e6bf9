package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.await;

import io.throttlekit.testkit.net.ReservedPort;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** A Redis Cluster of processes on this machine, whose masters share the slots evenly. */
final class RedisNodes implements AutoCloseable {
  private static final int SLOTS = 16_384;
  private static final String NO_FAILOVER = "cluster-replica-no-failover";

  private final List<RedisProcess> masters = new ArrayList<>();
  private final List<RedisProcess> replicas = new ArrayList<>();

  /** Maps a node's port to the port that it announces. */
  private final IntUnaryOperator announced;

  private RedisNodes(IntUnaryOperator announced) {
    this.announced = announced;
  }

  /** Starts three masters. */
  static RedisNodes start() {
    return startBehind(port -> port);
  }

  /**
   * Starts three masters that announce other ports than their own.
   *
   * @param announced maps each port to the announced one
   */
  static RedisNodes startBehind(IntUnaryOperator announced) {
    return start(0, announced);
  }

  /** Starts three masters, each with a replica. */
  static RedisNodes startWithReplicas() {
    return start(1, port -> port);
  }

  private static RedisNodes start(int replicasEach, IntUnaryOperator announced) {
    RedisNodes nodes = new RedisNodes(announced);
    for (int i = 0; i < 3; i++) {
      nodes.startMaster(i);
    }
    for (int i = 0; i < 3 * replicasEach; i++) {
      nodes.replicas.add(nodes.join(nodes.launch()));
    }
    nodes.all().forEach(node -> await("a cluster", () -> seesAllNodes(node, nodes.all().size())));
    for (int i = 0; i < nodes.replicas.size(); i++) {
      RedisProcess replica = nodes.replicas.get(i);
      replica.command("CLUSTER", "REPLICATE", id(nodes.masters.get(i)));
      await("a replica", () -> replica.command("ROLE").contains("connected"));
    }
    return nodes;
  }

  List<RedisProcess> masters() {
    return masters;
  }

  /** Returns the replica of a master, if there are replicas. */
  RedisProcess replica(int master) {
    return replicas.get(master);
  }

  /** Prevents failovers, however long a busy machine delays a master. */
  void keepMasters() {
    replicas.forEach(each -> each.command("CONFIG", "SET", NO_FAILOVER, "yes"));
  }

  /** Allows a failover again for the replica of one master. */
  void mayReplaceMaster(int master) {
    replica(master).command("CONFIG", "SET", NO_FAILOVER, "no");
  }

  /** Returns the number of the master that had a slot at the start. */
  int masterOf(int slot) {
    int master = 0;
    while (slot >= (master + 1) * SLOTS / masters.size()) {
      master++;
    }
    return master;
  }

  /** Returns the URLs of two masters. */
  String urls() {
    return masters.getFirst().url() + "," + masters.getLast().url();
  }

  /** Returns the node's id in the Cluster. */
  static String id(RedisProcess node) {
    return node.command("CLUSTER", "MYID");
  }

  @Override
  public void close() {
    all().forEach(RedisProcess::close);
  }

  private List<RedisProcess> all() {
    List<RedisProcess> all = new ArrayList<>(masters);
    all.addAll(replicas);
    return all;
  }

  private void startMaster(int i) {
    RedisProcess node = launch();
    masters.add(node);
    List<String> addSlots = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
    for (int slot = i * SLOTS / 3; slot < (i + 1) * SLOTS / 3; slot++) {
      addSlots.add(String.valueOf(slot));
    }
    node.command(addSlots.toArray(String[]::new));
    node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
    join(node);
  }

  private RedisProcess join(RedisProcess node) {
    node.command("CLUSTER", "MEET", "127.0.0.1", String.valueOf(masters.getFirst().port()));
    return node;
  }

  private RedisProcess launch() {
    ReservedPort port = ReservedPort.take();
    return RedisProcess.start(
        port,
        "--cluster-announce-port",
        String.valueOf(announced.applyAsInt(port.number())),
        "--cluster-enabled",
        "yes",
        "--cluster-node-timeout",
        "3000",
        "--cluster-require-full-coverage",
        "no",
        "--repl-diskless-sync-delay",
        "0");
  }

  private static boolean seesAllNodes(RedisProcess node, int nodes) {
    String info = node.command("CLUSTER", "INFO");
    return info.contains("cluster_state:ok")
        && info.contains("cluster_size:3")
        && info.contains("cluster_known_nodes:" + nodes);
  }
}
