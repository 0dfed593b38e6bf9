package io.throttlekit.envoy.xds;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.LimitServer.Mark;
import io.throttlekit.envoy.xds.ServedLimits.Replica;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The invariants of shares over several replicas, in seeded histories: Envoys move, restart, apply
 * and acknowledge late; answers to replicas are late or lost, their reports are lost; replicas die,
 * and others steer.
 */
@Tag("exploration")
class ReplicatedLimitsPropertyTest {
  private static final ClusterLimit UP = new ClusterLimit("up", Priority.DEFAULT);
  private static final int SEEDS = 150;
  private static final int STEPS = 200;
  private static final int REPLICAS = 3;
  private static final int MAX_LIMIT = 13; // exclusive; the listener fails at 13

  @Test
  void appliedSharesAreReservedAndNeverRiseBeyondTheLimit() {
    Reached reached = new Reached();
    for (int seed = 0; seed < SEEDS; seed++) {
      try (History history = new History(seed, reached)) {
        for (int step = 0; step < STEPS; step++) {
          long before = history.reserved();
          String done = history.step();
          String where = "seed " + seed + " step " + step + ": " + done;
          assertThat(history.applied()).as(where).isLessThanOrEqualTo(history.reserved());
          assertThat(history.reserved())
              .as(where)
              .isLessThanOrEqualTo(Math.max(history.limit, before + history.revealed));
        }
        history.settle();
        assertThat(history.applied()).as("seed " + seed).isEqualTo(history.limit);
      }
    }
    assertThat(reached.moved).isGreaterThan(1_000);
    assertThat(reached.restarted).isGreaterThan(500);
    assertThat(reached.steered).isGreaterThan(500);
    assertThat(reached.died).isGreaterThan(100);
    assertThat(reached.lateAnswers).isGreaterThan(500);
    assertThat(reached.revealed).as("shares of parts that were given to others").isZero();
    assertThat(reached.overfull).isGreaterThan(500);
  }

  private static final class Reached {
    int moved;
    int restarted;
    int steered;
    int died;
    int lateAnswers;
    int overfull;
    int revealed;
  }

  /** An Envoy, which applies its share whether it is connected or not. */
  private static final class ModelEnvoy {
    final String node;
    @Nullable FakeEnvoy stream;
    int applied;
    String version = "";
    final Deque<DiscoveryResponse> unacknowledged = new ArrayDeque<>();
    private final List<FakeEnvoy> open = new ArrayList<>();

    ModelEnvoy(String node) {
      this.node = node;
    }

    void connect(Replica replica) {
      unacknowledged.clear();
      stream = FakeEnvoy.reconnect(replica.channel(), node, version);
      open.add(stream);
    }

    void disconnectAll() {
      open.stream().filter(each -> !each.ended()).forEach(FakeEnvoy::disconnect);
      stream = null;
    }

    void read() {
      if (stream != null && stream.unread() > 0) {
        unacknowledged.add(stream.obey());
        version = stream.version();
        applied = stream.share("up");
      }
    }

    void acknowledge() {
      if (stream != null && !stream.ended() && !unacknowledged.isEmpty()) {
        stream.acknowledge(unacknowledged.remove());
      }
    }
  }

  private record Answer(Replica replica, SharePlan plan, Mark mark) {}

  private static final class History implements AutoCloseable {
    final ServedLimits served = ServedLimits.on(REPLICAS);
    private final SplittableRandom random;
    private final Reached reached;
    private final List<ModelEnvoy> envoys = new ArrayList<>();
    private final Deque<Answer> answers = new ArrayDeque<>();
    int limit;

    /** Shares of parts that a report brought, without which they were unknown. */
    long revealed;

    History(long seed, Reached reached) {
      this.random = new SplittableRandom(seed);
      this.reached = reached;
      offer();
      int count = 1 + random.nextInt(4);
      for (int i = 0; i < count; i++) {
        envoys.add(new ModelEnvoy("n" + i));
      }
    }

    long applied() {
      return envoys.stream().mapToLong(envoy -> envoy.applied).sum();
    }

    long reserved() {
      return served.division().reserved(UP).values().stream().mapToLong(Long::longValue).sum();
    }

    String step() {
      ModelEnvoy envoy = envoys.get(random.nextInt(envoys.size()));
      Replica replica = served.replica(random.nextInt(REPLICAS));
      reached.overfull += reserved() > limit ? 1 : 0;
      revealed = 0;
      return switch (random.nextInt(24)) {
        case 0 -> {
          offer();
          yield "limit " + limit;
        }
        case 1, 2 -> move(envoy, replica);
        case 3 -> {
          if (envoy.stream != null && random.nextBoolean()) {
            envoy.stream.disconnect();
            envoy.stream = null;
          }
          yield envoy.node + " disconnects";
        }
        case 4 -> restart(envoy, replica);
        case 5 -> die(replica);
        case 6 -> {
          reached.steered++;
          served.steerFrom(served.record());
          yield "another steers";
        }
        case 7 -> {
          served.time().pass(Duration.ofMillis(random.nextInt(400)));
          yield "time passes";
        }
        case 8 -> {
          served.reported(UP, envoy.node, 1 + random.nextInt(8), random.nextInt(5));
          yield "demand of " + envoy.node;
        }
        case 9, 10, 11 -> answer();
        case 12, 13, 14, 15 -> {
          envoy.read();
          yield envoy.node + " applies " + envoy.applied;
        }
        case 16, 17, 18, 19 -> {
          envoy.acknowledge();
          yield envoy.node + " acknowledges";
        }
        default -> visit(replica);
      };
    }

    private void offer() {
      limit = random.nextInt(MAX_LIMIT);
      served.division().offer(UP, limit);
      served.round();
    }

    private String move(ModelEnvoy envoy, Replica replica) {
      FakeEnvoy older = envoy.stream;
      if (older != null && random.nextBoolean()) {
        older.disconnect(); // else it is found later, or never, to be closed
      }
      envoy.connect(replica);
      reached.moved++;
      return envoy.node + " moves";
    }

    private String restart(ModelEnvoy envoy, Replica replica) {
      if (envoy.stream != null) {
        envoy.stream.disconnect();
      }
      envoy.applied = 0;
      envoy.version = "";
      envoy.connect(replica);
      reached.restarted++;
      return envoy.node + " restarts";
    }

    private String die(Replica replica) {
      if (random.nextInt(3) > 0) {
        return "goes on";
      }
      replica.limits().cutOff();
      replica.limits().reachable();
      replica.vanish();
      served.round();
      answers.removeIf(answer -> answer.replica() == replica);
      reached.died++;
      return "a replica dies, and another starts";
    }

    private String visit(Replica replica) {
      Mark mark = replica.limits().begin();
      if (random.nextInt(4) > 0) { // else the report is lost
        revealed = unknownShares(replica);
        reached.revealed += revealed > 0 ? 1 : 0;
        replica.report();
      }
      served.round();
      answers.removeIf(answer -> answer.replica() == replica); // one visit at a time
      answers.add(new Answer(replica, served.record(), mark));
      return "a visit";
    }

    /** Returns shares of parts that were succeeded before another replica learned of them. */
    private long unknownShares(Replica replica) {
      return replica.limits().streams().stream()
          .filter(stream -> served.record().part(stream.node(), stream.token()) == null)
          .mapToInt(stream -> stream.mayApply().getOrDefault(UP, 0))
          .sum();
    }

    private String answer() {
      Answer answer = answers.poll();
      if (answer != null && random.nextInt(5) > 0) { // else it is lost
        reached.lateAnswers += answer.plan() != served.record() ? 1 : 0;
        answer.replica().apply(answer.plan(), answer.mark());
      }
      return "an answer";
    }

    /** Lets all Envoys connect, leases end, and everything be acknowledged. */
    void settle() {
      for (ModelEnvoy envoy : envoys) {
        envoy.disconnectAll();
        restart(envoy, served.replica(0));
      }
      served.visitAll();
      served.time().pass(Duration.ofSeconds(30));
      for (boolean all = false; !all; ) {
        served.visitAll();
        all = envoys.stream().allMatch(envoy -> envoy.unacknowledged.isEmpty());
        for (ModelEnvoy envoy : envoys) {
          while (envoy.stream != null && envoy.stream.unread() > 0) {
            envoy.read();
            all = false;
          }
          while (!envoy.unacknowledged.isEmpty()) {
            envoy.acknowledge();
          }
        }
      }
    }

    @Override
    public void close() {
      served.close();
    }
  }
}
