package io.throttlekit.steering;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.steering.LimitShares.Grant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The invariants of the shares, over seeded histories of limiters that receive grants late,
 * acknowledge late or twice, disconnect, reconnect on another stream, are gone, and are succeeded
 * by others; some share an id. Divisions are continued by others from their snapshots.
 */
@Tag("exploration")
class LimitSharesPropertyTest {
  private static final int SEEDS = 400;
  private static final int STEPS = 300;
  private static final long LEASE = 6;
  private static final int MAX_REQUESTS = 12;

  @Test
  void appliedSharesAreReservedAndNeverRiseBeyondTheLimit() {
    for (int seed = 0; seed < SEEDS; seed++) {
      Fleet fleet = new Fleet(seed);
      for (int step = 0; step < STEPS; step++) {
        long before = fleet.shares.reserved();
        String done = fleet.step();
        String where = "seed " + seed + " step " + step + ": " + done;
        assertThat(fleet.acknowledged()).as(where).isLessThanOrEqualTo(fleet.shares.reserved());
        assertThat(fleet.shares.acknowledged()).as(where).isBetween(0L, fleet.shares.reserved());
        assertThat(fleet.shares.reserved())
            .as(where)
            .isBetween(0L, Math.max(fleet.shares.limit(), before));
      }
    }
  }

  @Test
  void everySlotIsGrantedOnceAllHaveAcknowledged() {
    for (int seed = 0; seed < SEEDS; seed++) {
      Fleet fleet = new Fleet(seed);
      for (int step = 0; step < STEPS; step++) {
        fleet.step();
      }
      fleet.comeBack();
      int rounds = fleet.answerAll();
      String where = "seed " + seed;
      assertThat(fleet.shares.acknowledgements().unacknowledged()).as(where).isZero();
      assertThat(fleet.acknowledged()).as(where).isEqualTo(fleet.shares.limit());
      assertThat(fleet.shares.acknowledged()).as(where).isEqualTo(fleet.shares.limit());
      assertThat(rounds).as(where).isLessThanOrEqualTo(3); // lower, raise, no change
      if (fleet.shares.limit() >= fleet.gates.size()) {
        assertThat(fleet.appliedById().values()).as(where).allMatch(share -> share > 0);
      }
    }
  }

  @Test
  void theHistoriesReachTheRelevantCases() {
    Reached reached = new Reached();
    for (int seed = 0; seed < SEEDS; seed++) {
      Fleet fleet = new Fleet(seed, reached);
      for (int step = 0; step < STEPS; step++) {
        fleet.step();
      }
    }
    assertThat(reached.late).isGreaterThan(1_000);
    assertThat(reached.repeated).isGreaterThan(1_000);
    assertThat(reached.forgotten).isGreaterThan(100);
    assertThat(reached.returned).isGreaterThan(100);
    assertThat(reached.overfull).isGreaterThan(1_000);
    assertThat(reached.takenOver).isGreaterThan(100);
    assertThat(reached.alike).isGreaterThan(1_000);
    assertThat(reached.succeeded).isGreaterThan(100);
    assertThat(reached.restored).isGreaterThan(1_000);
    assertThat(reached.restoredUnacknowledged).isGreaterThan(1_000);
  }

  private static final class Reached {
    int late;
    int repeated;
    int forgotten;
    int returned;
    int overfull;
    int takenOver;
    int alike;
    int succeeded;
    int restored;
    int restoredUnacknowledged;
  }

  /** A limiter with the messages in transit to it and from it. */
  private static final class ModelLimiter {
    final String id;
    boolean connected;
    boolean alive;
    int obeys;
    long lastReceived;
    long lastSaid;
    long leftNanos;
    final Deque<Grant> toGate = new ArrayDeque<>();
    final Deque<Long> fromGate = new ArrayDeque<>();

    ModelLimiter(String id) {
      this.id = id;
    }
  }

  private static final class Fleet {
    LimitShares shares;
    final Map<String, ModelLimiter> gates = new LinkedHashMap<>();
    private final SplittableRandom random;
    private final Reached reached;
    private long now = Long.MAX_VALUE - 100;
    private long number;

    Fleet(long seed) {
      this(seed, new Reached());
    }

    Fleet(long seed, Reached reached) {
      this.random = new SplittableRandom(seed);
      this.reached = reached;
      this.shares = new LimitShares(random.nextInt(MAX_REQUESTS), LEASE, 3);
      int count = 1 + random.nextInt(5);
      for (int i = 0; i < count; i++) {
        gates.put("g" + i, new ModelLimiter("id" + random.nextInt(count)));
      }
    }

    /** Returns the sum of the limits that connected limiters apply. */
    long acknowledged() {
      return gates.values().stream().filter(g -> g.alive).mapToLong(g -> g.obeys).sum();
    }

    /** Returns the same by id. */
    Map<String, Integer> appliedById() {
      Map<String, Integer> acknowledged = new LinkedHashMap<>();
      gates.values().forEach(gate -> acknowledged.merge(gate.id, gate.obeys, Integer::sum));
      return acknowledged;
    }

    String step() {
      String name = List.copyOf(gates.keySet()).get(random.nextInt(gates.size()));
      ModelLimiter gate = model(name);
      String done = name + " " + anything(name, gate);
      reached.overfull += shares.reserved() > shares.limit() ? 1 : 0;
      reached.alike += alike() ? 1 : 0;
      return done;
    }

    /** Returns whether two limiters with one id are connected. */
    private boolean alike() {
      List<String> ids = gates.values().stream().filter(g -> g.connected).map(g -> g.id).toList();
      return ids.size() > Set.copyOf(ids).size();
    }

    private String anything(String name, ModelLimiter gate) {
      return switch (random.nextInt(14)) {
        case 13 -> random.nextInt(3) == 0 ? handOver() : "goes on";
        case 12 -> takeOver(name, gate);
        case 0 -> connect(name, gate);
        case 1 -> random.nextInt(3) == 0 ? disconnect(name, gate) : "stays";
        case 2 -> !gate.connected && gate.alive && random.nextInt(3) == 0 ? end(gate) : "goes on";
        case 3 -> {
          shares.limit(random.nextInt(MAX_REQUESTS));
          round();
          yield "sees the limit at " + shares.limit();
        }
        case 4 -> {
          now += random.nextLong(6);
          round();
          yield "sees it later";
        }
        case 5 -> report(gate);
        case 6, 7, 8 -> deliver(gate);
        default -> answer(name, gate);
      };
    }

    private String report(ModelLimiter gate) {
      if (gate.connected) {
        shares.reported(gate.id, random.nextInt(9), random.nextInt(5), now);
      } else if (gates.values().stream().noneMatch(g -> g.alive && g.id.equals(gate.id))) {
        shares.reported(gate.id, 0, 0, now);
      }
      round();
      return "reports";
    }

    private ModelLimiter model(String name) {
      return Objects.requireNonNull(gates.get(name));
    }

    private String connect(String name, ModelLimiter gate) {
      if (gate.connected) {
        return "is there";
      }
      if (!gate.alive && isKnown(name)) {
        return succeed(name, gate); // a new limiter needs a new name
      }
      reached.returned += gate.alive ? 1 : 0;
      gate.alive = true;
      gate.connected = true;
      shares.joined(name, gate.id);
      round();
      sendCurrentGrant(name, gate);
      return "connects";
    }

    /** Connects a new limiter in the place of one that is gone. */
    private String succeed(String name, ModelLimiter gate) {
      reached.succeeded++;
      String successor = name + "'";
      gates.remove(name);
      ModelLimiter next = new ModelLimiter(gate.id);
      next.alive = true;
      next.connected = true;
      next.fromGate.addAll(gate.fromGate); // of another limiter, whatever they acknowledge
      gates.put(successor, next);
      shares.succeeded(name, successor);
      shares.joined(successor, next.id);
      round();
      sendCurrentGrant(successor, next);
      return "is succeeded";
    }

    /** Continues with another division, which learns of only some connections at once. */
    private String handOver() {
      LimitShares before = shares;
      LimitShares next = new LimitShares(before.limit(), LEASE, 3, number);
      before
          .snapshot()
          .forEach((name, state) -> {
            next.restored(name, model(name).id, state, now);
            reached.restoredUnacknowledged += state.acknowledged() ? 0 : 1;
          });
      assertThat(next.reserved()).isEqualTo(before.reserved());
      assertThat(next.acknowledged()).isEqualTo(before.acknowledged());
      assertThat(next.snapshot()).isEqualTo(before.snapshot());
      shares = next;
      reached.restored++;
      gates.forEach((name, gate) -> {
        gate.leftNanos = now;
        if (gate.connected && random.nextBoolean()) {
          shares.joined(name, gate.id);
        } else {
          gate.connected = false; // goes on, and what was sent to it arrives
        }
      });
      round();
      return "sees another division";
    }

    /** Connects a limiter on a second stream while the first is open. */
    private String takeOver(String name, ModelLimiter gate) {
      if (!gate.connected) {
        return "has nothing to take over";
      }
      reached.takenOver++;
      deliverSome(gate);
      shares.joined(name, gate.id);
      round();
      sendCurrentGrant(name, gate);
      return "takes over";
    }

    private void sendCurrentGrant(String name, ModelLimiter gate) {
      // A connection begins with the current share, whether the limiter has received it or not.
      Grant again = new Grant(name, shares.share(name).orElseThrow(), number);
      gate.toGate.clear();
      gate.toGate.add(again);
    }

    private String disconnect(String name, ModelLimiter gate) {
      if (gate.connected) {
        gate.connected = false;
        deliverSome(gate);
        gate.toGate.clear();
        gate.leftNanos = now;
        shares.left(name, now);
        round();
      }
      return "disconnects";
    }

    /** Delivers some messages in transit before the connection breaks. */
    private void deliverSome(ModelLimiter gate) {
      while (!gate.toGate.isEmpty() && random.nextBoolean()) {
        deliver(gate);
      }
    }

    private String end(ModelLimiter gate) {
      gate.alive = false;
      gate.obeys = 0;
      gate.toGate.clear();
      gate.lastReceived = 0;
      return "ends";
    }

    private String deliver(ModelLimiter gate) {
      Grant grant = gate.toGate.poll();
      if (grant == null) {
        return "hears nothing";
      }
      gate.obeys = grant.share();
      gate.lastReceived = grant.number();
      gate.fromGate.add(grant.number());
      return "obeys " + grant;
    }

    private String answer(String name, ModelLimiter gate) {
      Long written = gate.fromGate.peek();
      if (written == null) {
        return "has nothing to say";
      }
      if (random.nextInt(4) > 0) {
        gate.fromGate.poll();
      } else {
        reached.repeated++;
      }
      reached.late += written < gate.lastSaid || written < gate.lastReceived ? 1 : 0;
      gate.lastSaid = written;
      if (random.nextInt(5) > 0) { // otherwise it is lost
        shares.acknowledged(name, written);
        round();
      }
      return "answers " + written;
    }

    private void round() {
      int before = known();
      for (Grant grant : shares.due(now, ++number)) {
        ModelLimiter gate = model(grant.limiter());
        if (gate.connected) {
          gate.toGate.add(grant);
        }
      }
      reached.forgotten += known() < before ? 1 : 0;
      // A limiter is gone when its lease has expired: that is the purpose of a lease.
      for (ModelLimiter gate : gates.values()) {
        if (!gate.connected && now - gate.leftNanos >= LEASE) {
          end(gate);
        }
      }
    }

    private int known() {
      return (int) gates.keySet().stream().filter(this::isKnown).count();
    }

    private boolean isKnown(String name) {
      return shares.snapshot().containsKey(name);
    }

    void comeBack() {
      now += LEASE;
      round();
      List.copyOf(gates.keySet()).forEach(name -> connect(name, model(name)));
    }

    /** Delivers and acknowledges everything until no grant is left. */
    int answerAll() {
      for (int rounds = 1; ; rounds++) {
        gates.forEach((name, gate) -> {
          while (!gate.toGate.isEmpty()) {
            deliver(gate);
          }
          shares.acknowledged(name, gate.lastReceived);
        });
        List<Grant> grants = shares.due(now, ++number);
        if (grants.isEmpty()) {
          return rounds;
        }
        grants.forEach(grant -> model(grant.limiter()).toGate.add(grant));
      }
    }
  }
}
