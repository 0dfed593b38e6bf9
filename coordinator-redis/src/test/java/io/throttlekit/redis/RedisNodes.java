package io.throttlekit.redis;

import static io.throttlekit.redis.Asked.await;

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

  /** The port that a node names to others, by its own. */
  private final IntUnaryOperator announced;

  private RedisNodes(IntUnaryOperator announced) {
    this.announced = announced;
  }

  /** Three masters. */
  static RedisNodes start() {
    return startBehind(port -> port);
  }

  /**
   * Three masters that name other ports than their own.
   *
   * @param announced gives the one for each of their own
   */
  static RedisNodes startBehind(IntUnaryOperator announced) {
    return start(0, announced);
  }

  /** Three masters, each with a replica. */
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
    nodes.all().forEach(node -> await("a cluster", () -> knowsAll(node, nodes.all().size())));
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

  /** The replica of the master with that number, if there are any. */
  RedisProcess replica(int master) {
    return replicas.get(master);
  }

  /** Lets no replica take over from a master, however long a busy machine keeps that waiting. */
  void keepMasters() {
    replicas.forEach(each -> each.command("CONFIG", "SET", NO_FAILOVER, "yes"));
  }

  /** Ends {@link #keepMasters} for the replica of one master. */
  void mayReplaceMaster(int master) {
    replica(master).command("CONFIG", "SET", NO_FAILOVER, "no");
  }

  /** The number of the master that a slot had at the start. */
  int masterOf(int slot) {
    int master = 0;
    while (slot >= (master + 1) * SLOTS / masters.size()) {
      master++;
    }
    return master;
  }

  /** The URLs of two. */
  String urls() {
    return masters.getFirst().url() + "," + masters.getLast().url();
  }

  /** The name by which the others know a node. */
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

  private static boolean knowsAll(RedisProcess node, int nodes) {
    String info = node.command("CLUSTER", "INFO");
    return info.contains("cluster_state:ok")
        && info.contains("cluster_size:3")
        && info.contains("cluster_known_nodes:" + nodes);
  }
}
