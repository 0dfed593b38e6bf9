package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.FIVE;
import static io.throttlekit.redis.StoreCalls.acquire;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.answers;
import static io.throttlekit.redis.StoreCalls.ask;
import static io.throttlekit.redis.StoreCalls.await;
import static io.throttlekit.redis.StoreCalls.failure;
import static io.throttlekit.redis.StoreCalls.key;
import static io.throttlekit.redis.StoreCalls.left;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A Cluster whose slots move, and whose masters die or hang, under load. */
@RealRedis
class RedisClusterFaultsTest {
  private static final int USERS = 60;
  private static final Slots SLOTS = new Slots(new KeyText(""), true);

  private final RecordingListener listener = new RecordingListener();
  private final Map<String, Integer> admitted = new HashMap<>();
  private final Map<String, Integer> failed = new HashMap<>();
  private RedisNodes nodes;
  private RedisCounterStore store;

  @BeforeEach
  void start() {
    nodes = RedisNodes.startWithReplicas();
    nodes.keepMasters();
    // While all calls wait for the hanging master, none are sent to the others, which must not
    // count as silence.
    Wanted wanted =
        Wanted.cluster(nodes.urls()).deadlines(8_000, 16_000).breaker(1_000, 60_000, 25);
    store =
        Stores.connected(
            RedisCounterStore.connect(wanted.settings(), TimeSource.system(), listener, null));
    await("connected", () -> answers(store));
  }

  @AfterEach
  void stop() {
    store.close();
    nodes.close();
  }

  @Test
  void aMigratedSlotKeepsItsCounts() {
    // All pairs of masters: each lists the nodes in a random order, the replica of the source
    // before
    // the source by chance.
    for (int from = 0; from < 3; from++) {
      List<String> users = usersOf(from);
      assertThat(users).hasSizeGreaterThan(5);
      for (int next = 1; next < 3; next++) {
        RedisProcess source = nodes.masters().get(from);
        RedisProcess target = nodes.masters().get((from + next) % 3);
        moves(users.get(2 * next), source, target);
        moves(users.get(2 * next + 1), source, target);
      }
    }
    assertThat(listener.failures).isEmpty();
    assertThat(listener.losses).isEmpty();
  }

  private void moves(String user, RedisProcess from, RedisProcess to) {
    String slot = String.valueOf(slot(user));
    assertThat(acquire(store, user, 1).admitted()).isTrue();
    to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", RedisNodes.id(from));
    from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", RedisNodes.id(to));
    assertThat(acquire(store, user, 1).admitted()).as("before it moves").isTrue();
    for (String key : from.command("CLUSTER", "GETKEYSINSLOT", slot, "100").lines().toList()) {
      from.command("MIGRATE", "127.0.0.1", String.valueOf(to.port()), key, "0", "5000");
    }
    assertThat(acquire(store, user, 1).admitted()).as("by another node").isTrue();
    to.command("CLUSTER", "SETSLOT", slot, "NODE", RedisNodes.id(to));
    from.command("CLUSTER", "SETSLOT", slot, "NODE", RedisNodes.id(to));
    assertThat(acquire(store, user, 2).admitted()).as("moved").isTrue();
    assertThat(acquire(store, user, 1).admitted()).as("beyond the limit").isFalse();
  }

  @Test
  void aNewCounterInAMigratingSlotWaitsForIt() {
    String user = usersOf(0).getFirst();
    String slot = String.valueOf(slot(user));
    RedisProcess from = nodes.masters().getFirst();
    RedisProcess to = nodes.masters().getLast();
    acquire(store, user, 5);
    answer(store.reset(key(FIVE, user), FIVE)); // leaves the slot's epoch
    to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", RedisNodes.id(from));
    from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", RedisNodes.id(to));
    assertThat(failure(ask(store, user, 1))).hasMessageContaining("TRYAGAIN");
    from.command("CLUSTER", "SETSLOT", slot, "STABLE");
    assertThat(acquire(store, user, 5).admitted()).isTrue();
  }

  @Test
  void whenAMasterIsKilledOnlyItsCountersFailUntilItsReplicaHasThem() {
    onlyCountersOfTheFirstMasterFail(RedisProcess::kill);
  }

  @Test
  void whenAMasterHangsOnlyItsCountersFailUntilItsReplicaHasThem() {
    onlyCountersOfTheFirstMasterFail(RedisProcess::hang);
  }

  @Test
  void underDenyAMasterThatRestartsFromAnOlderSnapshotAdmitsNothing() {
    String user = usersOf(0).getFirst();
    String other = usersOf(1).getFirst();
    RedisProcess master = nodes.masters().getFirst();
    assertThat(denied(user)).isFalse();
    assertThat(denied(other)).isFalse();
    master.command("SAVE");
    assertThat(denied(user)).isFalse();
    master.kill();
    master.restart();
    await("recovered", () -> answersFor(user));
    assertThat(denied(user)).isTrue();
    assertThat(denied(other)).as("in another master").isFalse();
    assertThat(listener.losses).hasSize(1);
  }

  private boolean denied(String user) {
    return !answer(store.acquire(List.of(StoreCalls.claim(FIVE, user, 1, DataLoss.DENY))))
        .admitted();
  }

  private boolean answersFor(String user) {
    try {
      left(store, user);
      return true;
    } catch (CompletionException _) {
      return false;
    }
  }

  private void onlyCountersOfTheFirstMasterFail(Consumer<RedisProcess> fault) {
    for (int i = 0; i < 3; i++) {
      round();
    }
    assertThat(failed).isEmpty();
    RedisProcess master = nodes.masters().getFirst();
    nodes.mayReplaceMaster(0);
    await(
        "replicated",
        () ->
            master.command("DBSIZE").equals(nodes.replica(0).command("DBSIZE"))
                && master.command("WAIT", "1", "5000").equals("1"));
    fault.accept(master);
    List<String> orphans = usersOf(0);
    await(
        "noticed",
        () -> {
          round();
          return failed.keySet().containsAll(orphans);
        });
    await(
        "failed over",
        () -> {
          int before = failed.values().stream().mapToInt(Integer::intValue).sum();
          round();
          return before == failed.values().stream().mapToInt(Integer::intValue).sum();
        });
    assertThat(failed.keySet()).containsExactlyInAnyOrderElementsOf(orphans);
    assertThat(listener.states).isEmpty();
    assertThat(listener.losses).as("changes that were not replicated").hasSize(1);
    for (int i = 0; i < 6; i++) {
      round();
    }
    assertThat(admitted.values()).hasSize(USERS).allMatch(units -> units <= 5);
    assertThat(admitted)
        .allSatisfy((user, units) -> {
          assertThat(left(store, user)).isZero();
          assertThat(units).isBetween(failed.containsKey(user) ? 3 : 5, 5);
        });
  }

  /** Sends one request for each user. */
  private void round() {
    Map<String, CompletableFuture<Outcome>> asked = new HashMap<>();
    for (int i = 0; i < USERS; i++) {
      asked.put("u" + i, ask(store, "u" + i, 1).toCompletableFuture());
    }
    asked.forEach((user, answer) -> {
      try {
        admitted.merge(user, answer.join().admitted() ? 1 : 0, Integer::sum);
      } catch (CompletionException e) {
        failed.merge(user, 1, Integer::sum);
      }
    });
  }

  private List<String> usersOf(int master) {
    Predicate<String> there = user -> nodes.masterOf(slot(user)) == master;
    List<String> all = new ArrayList<>();
    for (int i = 0; i < USERS; i++) {
      all.add("u" + i);
    }
    return all.stream().filter(there).toList();
  }

  private static int slot(String user) {
    return SLOTS.of(key(FIVE, user));
  }
}
